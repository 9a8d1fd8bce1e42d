import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { isErrno } from "#base/errno.ts";
import { findByPs, readBootSession } from "./ps.ts";

/** Who a process is: a pid alone is reused, the three together never are. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot (Linux) or seconds since 1970 (macOS); 0 where it could not be told. */
  readonly start_time: number;
  readonly boot_id: string;
}

const isDarwin = process.platform === "darwin";
let bootId: string | undefined;

export function readBootId(): string {
  bootId ??= isDarwin
    ? readBootSession()
    : (readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "unknown");
  return bootId;
}

export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  /** One letter, of the first thread. */
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  readonly start_time: number;
  /** Threads that are left; undefined where the system does not say. */
  readonly threads?: number | undefined;
}

/** Undefined when there is no such process. */
export function findProcess(pid: number): ProcessStat | undefined {
  if (isDarwin) return findByPs(pid);
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

/** Field 2 is the name in parentheses and may itself hold spaces and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(" ");
  const number = (index: number) => Number(fields[index]);
  const stat = {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    state: fields[0] ?? "",
    ppid: number(1),
    pgid: number(2),
    sid: number(3),
    start_time: number(19),
    threads: number(17),
  };
  return Number.isSafeInteger(stat.start_time) ? stat : undefined;
}

/** A process is a zombie until its last thread has ended: the first one may exit long before the others. */
export function isDead(stat: Pick<ProcessStat, "state" | "threads">): boolean {
  return stat.state === "X" || (stat.state === "Z" && !isHeadless(stat));
}

/** Its first thread has exited and others run. The kernel then shows no environment and no arguments for the process. */
export function isHeadless({ state, threads }: Pick<ProcessStat, "state" | "threads">): boolean {
  return state === "Z" && threads !== undefined && threads > 1;
}

export function identify(pid: number): ProcessIdentity {
  return { pid, start_time: findProcess(pid)?.start_time ?? 0, boot_id: readBootId() };
}

/** Whether exactly this process lives; a zombie does not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.boot_id !== readBootId()) return false;
  const stat = findProcess(identity.pid);
  return stat !== undefined && stat.start_time === identity.start_time && !isDead(stat);
}

/** Their numbers; none when the process is gone. */
export function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    rethrowShortage(error);
    return [];
  }
}

/** Undefined when it is gone or not ours to read: for the callers both mean "not to be seen". */
export function readText(path: string): string | undefined {
  try {
    return readWhole(path);
  } catch (error) {
    rethrowShortage(error);
    return undefined;
  }
}

/** Without descriptors or memory we have not looked at all, and no process may be taken for dead because of that. */
function rethrowShortage(error: unknown): void {
  if (isErrno(error, "EMFILE", "ENFILE", "ENOMEM")) throw error;
}

/** One for all, because a look at a thousand processes reads three thousand of these small files. */
const into = Buffer.allocUnsafeSlow(16 * 1024);

/** As `readFileSync`, which takes fresh 64 KiB for each file that does not say how long it is, as none here does. */
function readWhole(path: string): string {
  const fd = openSync(path, "r");
  try {
    let text = "";
    for (;;) {
      const count = readSync(fd, into);
      if (count === 0) return text;
      text += into.toString("latin1", 0, count);
    }
  } finally {
    closeSync(fd);
  }
}
