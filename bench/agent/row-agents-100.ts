import { loadavg } from "node:os";
import type { MemoryFacts } from "#bench/lib/process-facts.ts";
import { median, percentile } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { type ManyAgents, runManyAgents } from "./many-agents.ts";

const AGENTS = 100;
const DELTAS_PER_SECOND = 50;
const SECONDS = 10;
const MIB_KIB = 1024;

/** A hundred agents that speak at once; once, whatever `--runs` says, because each run starts a hundred processes. */
export async function measureAgents100({ seconds = SECONDS }: RowOptions): Promise<Row[]> {
  const size: ManyAgents = {
    agents: AGENTS,
    deltas: DELTAS_PER_SECOND * seconds,
    every_ms: 1000 / DELTAS_PER_SECOND,
  };
  const found = await runManyAgents(size);
  for (const sentence of found.wrong) process.stderr.write(`agents-100: ${sentence}\n`);
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const what = `${AGENTS} agents at once, ${DELTAS_PER_SECOND} deltas/s each`;
  const pss = found.workers.map(({ pss_kib }) => pss_kib);
  const lost = found.wrong.length;
  return [
    {
      what: `${what}: runs in which an event was lost, doubled or changed`,
      measured: `${lost} of ${AGENTS}; ${found.events} events in ${found.seconds.toFixed(1)} s`,
      against: `the script: ${seconds} s; ${load}`,
      ratio: found.seconds / seconds,
    },
    {
      what: `${what}: \`session.get\` meanwhile`,
      measured: `p50 ${median(found.others).toFixed(1)}, p99 ${percentile(found.others, 0.99).toFixed(1)} ms`,
      against: `processor time: gateway ${found.cpu.gateway.toFixed(1)} s, host ${found.cpu.host.toFixed(1)} s`,
    },
    {
      what: `${what}: memory`,
      measured: `PSS ${inMib(median(pss))} MiB a worker, ${inMib(sum(pss))} MiB all`,
      against: `gateway ${sayMemory(found.gateway)}, host ${sayMemory(found.host)}`,
    },
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function sayMemory({ pss_kib }: MemoryFacts): string {
  return `${inMib(pss_kib)} MiB`;
}

function inMib(kib: number): string {
  return (kib / MIB_KIB).toFixed(0);
}
