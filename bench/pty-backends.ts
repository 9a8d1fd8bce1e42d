import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openCpuHogs } from "./lib/cpu-hogs.ts";
import { owned } from "./lib/owned.ts";
import { median } from "./lib/statistics.ts";
import { describeMachine, sayMachine } from "./machine.ts";
import { readNumber, runProgram } from "./program.ts";
import { backends } from "./pty-backend.ts";
import { type Measured, ptyMeasures } from "./pty-measures.ts";
import { renderTable } from "./row.ts";

interface Plan {
  readonly measure: string;
  /** Passed on to the measure. */
  readonly count: number;
  readonly runs: number;
  readonly hogs?: number;
  /** A process that is stuck is killed after this. */
  readonly limit_ms?: number;
}

const plans: readonly Plan[] = [
  { measure: "throughput", count: 48, runs: 7 },
  { measure: "bursts", count: 1000, runs: 1, hogs: 2 },
  { measure: "idle", count: 200, runs: 3 },
  { measure: "spawn", count: 200, runs: 3 },
  { measure: "endings", count: 1, runs: 1 },
  { measure: "unread", count: 1, runs: 3 },
  { measure: "never read", count: 1, runs: 1, limit_ms: 15_000 },
  { measure: "late", count: 1, runs: 3 },
];

const LIMIT_MS = 300_000;
const here = fileURLToPath(import.meta.url);

async function measureHere(measure: string, backend: string, count: number): Promise<number> {
  const run = ptyMeasures[measure];
  const open = backends[backend];
  if (run === undefined || open === undefined) throw new Error(`no ${measure} of ${backend}`);
  using opened = await open();
  process.stdout.write(`${JSON.stringify(await run(opened, count))}\n`);
  return 0;
}

/** For each backend the median of its runs, name by name; words are those of the last run. */
async function runPlan(plan: Plan): Promise<Record<string, Measured>> {
  const names = Object.keys(backends);
  const found = new Map<string, Measured[]>(names.map((name) => [name, []]));
  await using _hogs = openCpuHogs(plan.hogs ?? 0);
  for (let run = 0; run < plan.runs; run += 1) {
    for (const name of names) found.get(name)?.push(await measureApart(plan, name));
  }
  return Object.fromEntries([...found].map(([name, runs]) => [name, middleOf(runs)]));
}

async function measureApart(plan: Plan, backend: string): Promise<Measured> {
  const { measure, count, limit_ms = LIMIT_MS } = plan;
  const args = ["--measure", measure, "--backend", backend, "--count", String(count)];
  const { promise, resolve, reject } = Promise.withResolvers<Measured>();
  const options = { timeout: limit_ms, killSignal: "SIGKILL" } as const;
  const child = execFile(process.execPath, [here, ...args], options, (error, stdout) => {
    if (error === null) resolve(JSON.parse(stdout));
    else if (error.killed === true) resolve({ stuck: `killed after ${limit_ms} ms` });
    else reject(error);
  });
  await using _child = owned(() => void child.kill("SIGKILL"));
  return await promise;
}

function middleOf(runs: readonly Measured[]): Measured {
  const last = runs.at(-1) ?? {};
  return Object.fromEntries(
    Object.entries(last).map(([name, value]) => [
      name,
      typeof value === "number" ? median(runs.map((run) => Number(run[name]))) : value,
    ]),
  );
}

function render(measure: string, found: Readonly<Record<string, Measured>>): string[][] {
  const names = Object.keys(backends);
  const figures = [...new Set(names.flatMap((name) => Object.keys(found[name] ?? {})))];
  return figures.map((figure) => [
    `${measure}: ${figure}`,
    ...names.map((name) => say(found[name]?.[figure] ?? "")),
  ]);
}

function say(value: number | string): string {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

const USAGE = `node bench/pty-backends.ts: what docs/adr/0002-pty-backend.md was decided by.
Each figure comes from a process of its own, the backends in turn.
  --only NAME   one of them (again for more)
  --scale N     that part of the size, for a try
  --json        for programs
  --measure NAME --backend NAME --count N   one figure, in this process`;

await runProgram(USAGE, async () => {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      scale: { type: "string" },
      json: { type: "boolean" },
      measure: { type: "string" },
      backend: { type: "string" },
      count: { type: "string" },
    },
  });
  const { measure, backend, count } = values;
  if (measure !== undefined) return await measureHere(measure, backend ?? "koffi", Number(count));
  const part = readNumber("scale", values.scale ?? "1");
  const machine = describeMachine();
  const results: Record<string, Record<string, Measured>> = {};
  for (const plan of plans) {
    if (values.only !== undefined && !values.only.includes(plan.measure)) continue;
    process.stderr.write(`${plan.measure} ...\n`);
    const scaled = { ...plan, count: Math.max(1, Math.round(plan.count * part)) };
    results[plan.measure] = await runPlan(scaled);
  }
  const rows = Object.entries(results).flatMap(([name, found]) => render(name, found));
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify({ machine, results }, undefined, 2)}\n`
      : `${sayMachine(machine)}\n\n${renderTable([["", ...Object.keys(backends)], ...rows])}`,
  );
  return 0;
});
