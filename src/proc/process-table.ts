import { readdirSync } from "node:fs";
import {
  isDead,
  isHeadless,
  listThreads,
  type ProcessStat,
  parseStat,
  readText,
} from "./identity.ts";

/** All live processes at one moment; their marks are read on demand and once. */
export interface Snapshot {
  readonly processes: readonly ProcessStat[];
  /** The session that its environment names. */
  sessionOf(pid: number): string | undefined;
  /** Its soft limit of RLIMIT_MSGQUEUE. */
  limitOf(pid: number): number | undefined;
}

const MARKER = /\0REINS_SESSION_ID=([^\0]*)\0/;
const LIMIT = /^Max msgqueue size +(\d+)/m;

export function takeSnapshot(): Snapshot {
  const processes: ProcessStat[] = [];
  for (const name of readdirSync("/proc")) {
    if (name.charCodeAt(0) > 57) continue;
    const text = readText(`/proc/${name}/stat`);
    const stat = text === undefined ? undefined : parseStat(text);
    if (stat !== undefined && !isDead(stat)) processes.push(stat);
  }
  const headless = new Set(processes.filter(isHeadless).map(({ pid }) => pid));
  const sessionOf = once((pid: number) =>
    headless.has(pid) ? readSessionOfThreads(pid) : readSession(`/proc/${pid}`),
  );
  return { processes, sessionOf, limitOf: once(readLimit) };
}

/** Marks alone, each read once, of processes that no snapshot holds. */
export function readMarks(): Pick<Snapshot, "sessionOf" | "limitOf"> {
  return { sessionOf: once((pid) => readSession(`/proc/${pid}`)), limitOf: once(readLimit) };
}

function once<T>(read: (pid: number) => T): (pid: number) => T {
  const known = new Map<number, { readonly value: T }>();
  return (pid) => {
    const entry = known.get(pid) ?? { value: read(pid) };
    known.set(pid, entry);
    return entry.value;
  };
}

function readSession(folder: string): string | undefined {
  const environment = `\0${readText(`${folder}/environ`) ?? ""}\0`;
  return MARKER.exec(environment)?.[1];
}

/** The threads that are left still have the environment. */
function readSessionOfThreads(pid: number): string | undefined {
  for (const thread of listThreads(pid)) {
    const session = readSession(`/proc/${pid}/task/${thread}`);
    if (session !== undefined) return session;
  }
  return undefined;
}

function readLimit(pid: number): number | undefined {
  const line = LIMIT.exec(readText(`/proc/${pid}/limits`) ?? "");
  return line === null ? undefined : Number(line[1]);
}

/**
 * One snapshot for everybody who asks in the same turn of the event loop: a scan of 1,000 processes takes
 * some 20 ms, so closing 50 sessions must not scan 50 times.
 */
export class ProcessTable {
  readonly #take: () => Snapshot;
  #current: Snapshot | undefined;
  #scans = 0;

  constructor(take: () => Snapshot = takeSnapshot) {
    this.#take = take;
  }

  snapshot(): Snapshot {
    if (this.#current === undefined) {
      this.#scans += 1;
      this.#current = this.#take();
      setImmediate(() => {
        this.#current = undefined;
      });
    }
    return this.#current;
  }

  /** For those who must see what happened since. */
  fresh(): Snapshot {
    this.#current = undefined;
    return this.snapshot();
  }

  get scans(): number {
    return this.#scans;
  }
}
