import { constants } from "node:os";
import { Emitter } from "#base/emitter.ts";
import type { ExitStatus } from "#proc/child.ts";
import type { Libc } from "./libc.ts";

interface ReaperDeps {
  readonly libc: Pick<Libc, "reap">;
  /**
   * Also reap orphans that a subreaper adopts. Only for a process that has no children by other means: theirs
   * would be taken away from Node.
   */
  readonly adoptsOrphans: boolean;
  /** Children of the program before us: one that ends before it is watched is remembered. */
  readonly expected?: ReadonlySet<number> | undefined;
  readonly onError: (error: unknown) => void;
}

/** Waits for our own children, on SIGCHLD, without a thread for each. */
export class Reaper implements Disposable {
  readonly #deps: ReaperDeps;
  readonly #waiting = new Map<number, (status: ExitStatus) => void>();
  readonly #expected: Set<number>;
  readonly #early = new Map<number, number>();
  readonly #deaths: Emitter<void>;
  readonly #onSignal = () => this.#reapAll();

  constructor(deps: ReaperDeps) {
    this.#deps = deps;
    this.#expected = new Set(deps.expected);
    this.#deaths = new Emitter(deps.onError);
    process.on("SIGCHLD", this.#onSignal);
  }

  /** Calls back after every death of a child or an adopted orphan. */
  onDeath(listener: () => void): Disposable {
    return this.#deaths.on(listener);
  }

  watch(pid: number, exited: (status: ExitStatus) => void): void {
    this.#waiting.set(pid, exited);
    const early = this.#early.get(pid);
    this.#early.delete(pid);
    // From here on the number may become somebody else's.
    this.#expected.delete(pid);
    if (early !== undefined) setImmediate(() => this.#settle(pid, early));
    // It may have died before anybody asked.
    setImmediate(this.#onSignal);
  }

  get watched(): number {
    return this.#waiting.size;
  }

  [Symbol.dispose](): void {
    process.off("SIGCHLD", this.#onSignal);
    this.#waiting.clear();
  }

  #reapAll(): void {
    const found = this.#deps.adoptsOrphans ? this.#reapAnybody() : this.#reapWatched();
    if (found > 0) this.#deaths.emit();
  }

  #reapAnybody(): number {
    let found = 0;
    for (let dead = this.#deps.libc.reap(-1); dead !== undefined; dead = this.#deps.libc.reap(-1)) {
      found += 1;
      this.#settle(dead.pid, dead.status);
    }
    return found;
  }

  #reapWatched(): number {
    let found = 0;
    for (const pid of [...this.#waiting.keys()]) {
      const dead = this.#deps.libc.reap(pid);
      if (dead === undefined) continue;
      found += 1;
      this.#settle(dead.pid, dead.status);
    }
    // Without orphans of our own every death may still matter to somebody who looks at a tree.
    return Math.max(found, 1);
  }

  #settle(pid: number, status: number): void {
    const exited = this.#waiting.get(pid);
    this.#waiting.delete(pid);
    if (exited === undefined && this.#expected.has(pid)) this.#early.set(pid, status);
    try {
      exited?.(decodeStatus(status));
    } catch (error) {
      this.#deps.onError(error);
    }
  }
}

/** Some numbers have two names, the usual one first: SIGABRT and SIGIOT. */
const signalByNumber = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

/** A wait status: low seven bits are the signal, the next byte the code. */
export function decodeStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  if (signal === 0) return { exit_code: (status >> 8) & 0xff, signal: null };
  return { exit_code: 128 + signal, signal: signalByNumber.get(signal) ?? `SIG${signal}` };
}
