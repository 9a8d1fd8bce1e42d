import { closeSync, openSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { errnoOf, isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** Master twice, slave, segment and index of a terminal's log. */
const DESCRIPTORS_PER_SESSION = 5;
/** For the socket's clients, the log files of a roll, and Node itself. */
const DESCRIPTORS_RESERVED = 128;
/** Of a command while it starts, its pipes at both ends and a spare one, and the log that takes its first bytes. */
const DESCRIPTORS_TO_START = 12;

/** How many sessions may live at once: our own limit, or what descriptors and the kernel's terminals allow. */
export function sessionCap(): number {
  const files = readNumber("/proc/self/limits", /^Max open files +(\d+)/m);
  const terminals = readNumber("/proc/sys/kernel/pty/max", /^(\d+)/);
  const byFiles =
    files === undefined
      ? limits.sessions_live
      : Math.floor((files - DESCRIPTORS_RESERVED) / DESCRIPTORS_PER_SESSION);
  return Math.max(1, Math.min(limits.sessions_live, byFiles, terminals ?? limits.sessions_live));
}

/**
 * Looked for before anything is made: without them what was made could not be removed again, and what a child prints
 * would be lost.
 */
export function checkFreeDescriptors(): void {
  using stack = new DisposableStack();
  try {
    for (let count = 0; count < DESCRIPTORS_TO_START; count += 1)
      stack.adopt(openSync("/dev/null", "r"), closeSync);
  } catch (error) {
    if (!isErrno(error, "EMFILE", "ENFILE")) throw error;
    throw new Fault(
      "overloaded",
      "the host has no file descriptors left to start it with; try again, or close some sessions first",
      { details: { errno: errnoOf(error) }, cause: error },
    );
  }
}

export function checkFreeDisk(path: string): void {
  const free = freeDiskBytes(path);
  if (free === undefined || free >= limits.disk_free_floor_bytes) return;
  throw new Fault(
    "disk_full",
    `only ${Math.floor(free / 1024 / 1024)} MiB are free for the logs; make room first`,
    {
      details: { free_bytes: free, floor_bytes: limits.disk_free_floor_bytes },
    },
  );
}

export function freeDiskBytes(path: string): number | undefined {
  try {
    const stats = statfsSync(path);
    return stats.bavail * stats.bsize;
  } catch {
    // Whether there is room will show when the session is made.
    return undefined;
  }
}

export function openDescriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function readNumber(path: string, pattern: RegExp): number | undefined {
  try {
    const found = pattern.exec(readFileSync(path, "latin1"))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
