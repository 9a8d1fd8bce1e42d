import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { layOutPackage } from "#bench/lib/packaged.ts";
import { interleave, median, pairedRatios } from "#bench/lib/statistics.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import { reinsPath } from "#bench/lib/temp-host.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { repeatingTeam } from "./teams.ts";
import { startWorker } from "./worker.ts";

const STARTS_PER_RUN = 2;
const MIB_KIB = 1024;

/** A worker from its spawn to the answer to its first line, by where its code comes from. */
export async function measureAgentStart({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const packaged = layOutPackage(dir.path);
  const team = repeatingTeam({ deltas: ["Yes."] });
  const cached = { ...process.env, XDG_CACHE_HOME: join(dir.path, "cache") };
  const uncached = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  const memory = new Map<string, number[]>();
  const start = (name: string, program: string, env: NodeJS.ProcessEnv) => async () => {
    const found = await startWorker({ program, env, team, dataDir: join(dir.path, "home") });
    memory.set(name, [...(memory.get(name) ?? []), found.memory.pss_kib]);
    return found.ready_ms;
  };
  const measures = {
    bare: startBare,
    checkout: start("checkout", reinsPath, uncached),
    "checkout, compile cache": start("checkout, compile cache", reinsPath, cached),
    bundle: start("bundle", packaged, uncached),
    "bundle, compile cache": start("bundle, compile cache", packaged, cached),
  };
  // The first start of each fills the caches.
  await interleave(1, measures);
  const { bare, ...times } = await interleave(runs * STARTS_PER_RUN, measures);
  return Object.entries(times).map(([name, found]) => ({
    what: `start of an agent's worker, ${name}`,
    measured: `${median(found).toFixed(0)} ms, PSS ${inMib(memory.get(name) ?? [])} MiB`,
    against: `\`node -e 0\`: ${median(bare).toFixed(0)} ms`,
    ratio: median(pairedRatios(found, bare)),
  }));
}

function startBare(): number {
  const started = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - started;
}

function inMib(kib: readonly number[]): string {
  return (median(kib) / MIB_KIB).toFixed(0);
}
