import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "#contract/fault.ts";
import type { DataDir } from "#host/data-dir.ts";
import { openLock } from "#host/lock.ts";
import { findHandOver, type HandOver, type Head, removeHandOver } from "#host/session/hand-over.ts";
import { identify, isAlive } from "#proc/identity.ts";
import type { Inherited } from "#proc/spawner.ts";

/** What lies in the data directory for this very process. */
export interface Handed {
  readonly head: Head;
  readonly content: unknown;
}

/** Somebody who starts at the same moment holds the lock only until he has seen that we are being replaced. */
const LOCK_LIMIT_MS = 5000;
const RETRY_MS = 10;

/**
 * The lock of the data directory, and what was handed over to this process. The kernel drops the lock at exec, so for a
 * moment anybody can have it: whoever finds a hand-over there that belongs to a living process lets go of it again.
 */
export async function openLockAndHandOver(
  dir: DataDir,
): Promise<{ readonly lock: Disposable; readonly handed: Handed | undefined }> {
  const self = identify(process.pid);
  const isOurs = (found: Handed | undefined) =>
    found !== undefined &&
    found.head.process.pid === self.pid &&
    found.head.process.start_time === self.start_time &&
    found.head.process.boot_id === self.boot_id;
  using stack = new DisposableStack();
  const lock = stack.use(await openLockSoon(dir.lock, isOurs(findHandOver(dir.path))));
  const found = findHandOver(dir.path);
  if (found !== undefined && !isOurs(found)) {
    if (isAlive(found.head.process))
      throw new Fault("conflict", "the host of this data directory is being upgraded", {
        details: { pid: found.head.process.pid },
      });
    // Its process has died with it.
    removeHandOver(dir.path);
  }
  stack.move();
  return { lock, handed: isOurs(found) ? found : undefined };
}

async function openLockSoon(path: string, isPatient: boolean): Promise<Disposable> {
  const until = performance.now() + LOCK_LIMIT_MS;
  for (;;) {
    try {
      return openLock(path);
    } catch (error) {
      if (!isPatient || performance.now() > until) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** How long ago it was written. */
export function passedMs(handOver: HandOver): number {
  const passed = process.hrtime.bigint() - BigInt(handOver.at_ns);
  return Math.max(0, Number(passed / 1_000_000n));
}

export function describeInherited(handOver: HandOver): Inherited {
  const children = handOver.sessions.flatMap(({ life }) => life.child ?? []);
  return {
    pids: new Set(
      children.filter(({ state }) => state === "running").map(({ identity }) => identity.pid),
    ),
    limit_marks: new Set(children.flatMap(({ limit_mark }) => limit_mark ?? [])),
  };
}
