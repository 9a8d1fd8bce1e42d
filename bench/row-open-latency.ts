import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openLogFiles } from "#log/log-files.ts";
import { median, percentile } from "./lib/statistics.ts";
import { openTempHost, type TempHost } from "./lib/temp-host.ts";
import type { Row, RowOptions } from "./row.ts";

const OPENS_PER_RUN = 20;
/** Sessions are opened one by one: in a row each would profit from what the kernel still has ready for the last one. */
const PAUSE_MS = 50;
const program = "/bin/echo";
const kinds = ["terminal", "command"] as const;

/**
 * From `create` to the first byte in the hands of a client that watches, against a spawn without anything around it.
 * Joining a cgroup costs the child a wait in the kernel, so hosts with and without are measured side by side.
 */
export async function measureOpenLatency({ runs }: RowOptions): Promise<Row[]> {
  await using host = await openTempHost();
  await using marksAlone = await openTempHost({ cgroups: false });
  const bare: number[] = [];
  const opens = kinds.flatMap((kind) => [
    { what: kind, kind, host, times: [] as number[] },
    { what: `${kind}, no cgroups`, kind, host: marksAlone, times: [] as number[] },
  ]);
  for (let round = 0; round < runs * OPENS_PER_RUN; round += 1) {
    bare.push(await spawnBare());
    for (const open of opens) open.times.push(await openSession(open.host, open.kind));
  }
  return opens.map(({ what, times }) => ({
    what: `create to first byte (\`echo\`), ${what}`,
    measured: describe(times),
    against: `bare spawn on pipes: ${describe(bare)}`,
    ratio: median(times) / median(bare),
  }));
}

function describe(times: readonly number[]): string {
  return `p50 ${percentile(times, 0.5).toFixed(2)}, p99 ${percentile(times, 0.99).toFixed(2)} ms`;
}

async function openSession(host: TempHost, kind: (typeof kinds)[number]): Promise<number> {
  await sleep(PAUSE_MS);
  const started = performance.now();
  const { session_id } = await host.create({ kind, argv: [program, "x"] });
  using watch = await host.client.watch(session_id);
  await watch.until(({ tail }) => tail > 0);
  using source = openLogFiles(join(host.dir.sessions, session_id, "output"));
  const chunk = source.read(0, { limit: 1, tail: watch.tail });
  const time = performance.now() - started;
  if (chunk?.kind !== "bytes") throw new Error("there is no first byte");
  await host.client.call("session.close", { session_id, purge: true });
  return time;
}

async function spawnBare(): Promise<number> {
  await sleep(PAUSE_MS);
  const started = performance.now();
  const child = spawn(program, ["x"], { stdio: ["ignore", "pipe", "ignore"] });
  const closed = once(child, "close");
  await once(child.stdout, "data");
  const time = performance.now() - started;
  await closed;
  return time;
}
