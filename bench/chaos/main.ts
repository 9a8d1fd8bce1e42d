import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { readNumber, runProgram } from "#bench/program.ts";
import { runChaos } from "./run.ts";

const USAGE = `npm run chaos: everything at once, broken on purpose, and every byte checked. See docs/chaos.md.
  --seed N         the same plan again, also by CHAOS_SEED
  --minutes M      1 unless said
  --evidence DIR   where to keep what is to be looked at after a failure`;

await runProgram(USAGE, async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      minutes: { type: "string" },
      evidence: { type: "string" },
    },
  });
  const said = values.seed ?? (process.env.CHAOS_SEED || undefined);
  const seed = said === undefined ? randomInt(1, 2 ** 31) : readNumber("seed", said);
  const minutes = readNumber("minutes", values.minutes ?? "1");
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  return (await runChaos({ seed, totalMs: minutes * 60_000, say, evidence: values.evidence }))
    ? 0
    : 1;
});
