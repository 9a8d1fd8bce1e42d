import { readdirSync } from "node:fs";
import { isDead, type ProcessStat, parseStat, readText } from "./identity.ts";

/** All live processes at one moment; environments are read on demand and once. */
export interface Snapshot {
  readonly processes: readonly ProcessStat[];
  hasVariable(pid: number, entry: string): boolean;
}

export function takeSnapshot(): Snapshot {
  const processes: ProcessStat[] = [];
  for (const name of readdirSync("/proc")) {
    if (name.charCodeAt(0) > 57) continue;
    const text = readText(`/proc/${name}/stat`);
    const stat = text === undefined ? undefined : parseStat(text);
    if (stat !== undefined && !isDead(stat)) processes.push(stat);
  }
  const environments = new Map<number, string>();
  return {
    processes,
    hasVariable(pid, entry) {
      let environment = environments.get(pid);
      if (environment === undefined) {
        environment = `\0${readText(`/proc/${pid}/environ`) ?? ""}`;
        environments.set(pid, environment);
      }
      return environment.includes(`\0${entry}\0`);
    },
  };
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
