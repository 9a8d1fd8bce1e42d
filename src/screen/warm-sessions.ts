import type { Clock } from "#base/clock.ts";
import { isFinal } from "#contract/ended.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

/** The log keeps four times as much, so the screen is up to date long before what it needs is evicted. */
export const WARM_STEP_BYTES = 16 * 1024 * 1024;
/** After the last time that somebody asked. */
const WARM_MS = 10 * 60 * 1000;
const WARM_SESSIONS = 64;

interface WarmDeps {
  readonly hosts: SessionHosts;
  readonly clock: Clock;
  readonly stepBytes: number;
  /** Draws what has come, and says up to where. */
  readonly advance: (handle: SessionHandle) => Promise<number>;
}

interface Warm {
  readonly abort: AbortController;
  readonly done: Promise<void>;
  timer: Disposable;
}

/** Sessions whose screen was asked for are followed for a while, so that it stays exact when old output is evicted. */
export class WarmSessions implements AsyncDisposable {
  readonly #deps: WarmDeps;
  readonly #warm = new BoundedMap<string, Warm>(WARM_SESSIONS);

  constructor(deps: WarmDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#warm.size;
  }

  /** Somebody asked for this session's screen, and it is drawn up to the offset. */
  touch({ session_id: sessionId, state }: SessionHandle["session"], offset: number): void {
    // Nothing more is printed, so nothing more is evicted.
    if (isFinal({ state })) return;
    const found = this.#warm.get(sessionId);
    found?.timer[Symbol.dispose]();
    const abort = found?.abort ?? new AbortController();
    const timer = this.#deps.clock.timer(WARM_MS, () => this.#forget(sessionId));
    const done = found?.done ?? this.#follow(sessionId, offset, abort.signal);
    stop(this.#warm.set(sessionId, { abort, done, timer }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#warm.values()].map(({ done }) => done);
    for (const id of [...this.#warm.keys()]) this.#forget(id);
    await Promise.all(all);
  }

  #forget(sessionId: string): void {
    const warm = this.#warm.get(sessionId);
    this.#warm.delete(sessionId);
    stop(warm);
  }

  async #follow(sessionId: string, offset: number, signal: AbortSignal): Promise<void> {
    const { hosts, stepBytes, advance } = this.#deps;
    try {
      using handle = await hosts.of(sessionId).open(sessionId);
      let drawn = offset;
      while (!signal.aborted && handle.state !== "closed") {
        const due = drawn + stepBytes;
        await handle.until(({ tail, session }) => tail >= due || isFinal(session), { signal });
        if (signal.aborted || isFinal(handle.session)) break;
        drawn = Math.max(await advance(handle), drawn);
      }
    } catch {
      // Gone, or too busy to be drawn: the next one who asks hears of it.
    }
    if (!signal.aborted) this.#forget(sessionId);
  }
}

function stop(warm: Warm | undefined): void {
  warm?.timer[Symbol.dispose]();
  warm?.abort.abort();
}
