// `npm run chaos`: everything at once, broken on purpose, and every byte checked. See docs/chaos.md.
//   --seed N   the same plan again, also by CHAOS_SEED      --minutes M   1 unless said
//   --evidence DIR   where to keep what is to be looked at after a failure
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { runProgram } from "#bench/program.ts";
import { runChaos } from "./run.ts";

await runProgram(async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      minutes: { type: "string" },
      evidence: { type: "string" },
    },
  });
  const seed = Number(values.seed ?? (process.env.CHAOS_SEED || randomInt(2 ** 31)));
  const minutes = Number(values.minutes ?? 1);
  if (!Number.isInteger(seed) || !(minutes > 0)) {
    process.stderr.write("--seed takes a whole number, --minutes a number above 0\n");
    return 2;
  }
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  return (await runChaos({ seed, totalMs: minutes * 60_000, say, evidence: values.evidence }))
    ? 0
    : 1;
});
