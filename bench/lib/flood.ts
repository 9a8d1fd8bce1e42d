import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "#contract/session.ts";
import { readMemory } from "./process-facts.ts";
import type { TempHost } from "./temp-host.ts";
import { readWholeLog, type WholeLog } from "./whole-log.ts";

export interface FloodOptions {
  /** Of `yes`; on a terminal half as many again arrive, because each line feed gets a carriage return. */
  readonly bytes: number;
}

export interface Flood {
  readonly ended: Session;
  readonly seconds: number;
  /** The host's resident memory after the first tenth, and the most that was seen from then on. */
  readonly memory_kib: { readonly early: number; readonly most: number };
  /** The most that the session's directory took. */
  readonly disk_bytes: number;
  readonly log: WholeLog;
}

const SAMPLE_MS = 100;

/** A child that prints far more than is kept, with nobody watching. */
export async function runFlood(host: TempHost, { bytes }: FloodOptions): Promise<Flood> {
  const started = performance.now();
  const { session_id } = await host.create({
    kind: "terminal",
    argv: ["/bin/sh", "-c", `yes | head -c ${bytes}`],
  });
  const dir = join(host.dir.sessions, session_id);
  const end = host.ends.wait(session_id, "final");
  let isOver = false;
  void end.finally(() => {
    isOver = true;
  });
  const samples: number[] = [];
  let disk = 0;
  while (!isOver) {
    samples.push(readMemory(host.pid).rss_kib);
    disk = Math.max(disk, directoryBytes(dir));
    await Promise.race([sleep(SAMPLE_MS), end]);
  }
  const ended = await end;
  const seconds = (performance.now() - started) / 1000;
  const early = samples[Math.floor(samples.length / 10)] ?? 0;
  return {
    ended,
    seconds,
    memory_kib: { early, most: Math.max(...samples.slice(Math.floor(samples.length / 10))) },
    disk_bytes: disk,
    log: await readWholeLog(host, session_id),
  };
}

function directoryBytes(dir: string): number {
  let bytes = 0;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // Evicted while we look.
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
