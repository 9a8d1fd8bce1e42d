import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openAgentGateway } from "./agent/agent-gateway.ts";
import { type Load, loads } from "./load/loads.ts";
import {
  type Bystander,
  joinLooked,
  type Looked,
  lookHead,
  openBystander,
  sayLooked,
} from "./load/look.ts";
import { describeMachine, sayMachine } from "./machine.ts";
import { choose, readNumber, runProgram } from "./program.ts";
import { type Section, writeReport } from "./report/report.ts";
import { renderTable } from "./row.ts";

/** What the end of a load has left to do is done by then, and idle connections of our own requests are closed. */
const SETTLE_MS = 8000;
/** Looks at a load that stays until it is stopped. */
const LOOKS = 3;

/** A gateway and a host of its own for each, so that none finds what another has left. */
async function runLoad(load: Load, size: number): Promise<string[][]> {
  await using place = await openAgentGateway();
  using bystander = await openBystander(place);
  const before = await bystander.look();
  const started = performance.now();
  const running = await load.start(place, size);
  const during = await lookDuring(bystander, running.done);
  const seconds = (performance.now() - started) / 1000;
  await running.stop();
  await sleep(SETTLE_MS);
  const after = await bystander.look();
  return [
    sayLooked("before", before),
    sayLooked(`during (${seconds.toFixed(1)} s)`, during),
    sayLooked("after", after),
  ];
}

/** Until it is over where it ends by itself; at least once. A load that goes wrong ends the looking with its error. */
async function lookDuring(
  bystander: Bystander,
  done: Promise<unknown> | undefined,
): Promise<Looked> {
  const looked: Looked[] = [];
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  done?.then(end, end);
  const goesOn = () => (done === undefined ? looked.length < LOOKS : !isOver);
  do looked.push(await bystander.look());
  while (goesOn());
  await done;
  return joinLooked(looked);
}

/** Undefined where it did not run to its end: one of those must not hide the others. */
async function runOne(load: Load, size: number): Promise<Section | undefined> {
  const machine = describeMachine();
  const part = size === load.full ? "" : ` A try: the full size is ${load.full}.`;
  const how = `${size} ${load.what}.${part}`;
  try {
    const table = [lookHead, ...(await runLoad(load, size))];
    process.stdout.write(`\n${how}\n\n${renderTable(table)}`);
    return { machine, how, is_try: size < load.full, table };
  } catch (error) {
    process.stderr.write(`${how} ${error instanceof Error ? error.stack : String(error)}\n`);
    return undefined;
  }
}

const USAGE = `npm run load: what host and gateway hold, and how long others wait, before, during and after a load.
  --only NAME   one of them (again for more)
  --full        the size that is promised
  --size N      of those that are run
  --write       docs/benchmarks.md`;

await runProgram(USAGE, async () => {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      full: { type: "boolean" },
      size: { type: "string" },
      write: { type: "boolean" },
    },
  });
  const chosen = choose(values.only, loads);
  const asked = values.size === undefined ? undefined : readNumber("size", values.size);
  process.stdout.write(`${sayMachine(describeMachine())}\n`);
  const sections: Record<string, Section> = {};
  for (const [name, load] of chosen) {
    const size = asked ?? (values.full === true ? load.full : load.bounded);
    const section = await runOne(load, size);
    if (section !== undefined) sections[name] = section;
  }
  if (values.write === true) writeReport({ load: sections });
  return Object.keys(sections).length === chosen.length ? 0 : 1;
});
