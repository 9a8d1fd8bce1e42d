import { addAbortListener } from "node:events";
import type { Session } from "#contract/session.ts";
import type { OutputNotice, TailNotice } from "./frames.ts";

type Waiter = () => void;

export interface Recent {
  readonly offset: number;
  readonly channel: number;
  readonly bytes: Buffer;
}

/** One session as the host tells of it: the newest session, and tails that can be waited for. */
export class Watch implements Disposable {
  #session: Session;
  #tail: number;
  #eventsTail: number;
  #state: "open" | "lost" | "closed" = "open";
  #recent: Recent | undefined;
  #waiters = new Set<Waiter>();
  readonly #listeners = new Set<() => void>();
  #dispose: () => void;

  constructor(session: Session, dispose: () => void) {
    this.#session = session;
    this.#tail = session.tail;
    this.#eventsTail = session.events_tail;
    this.#dispose = dispose;
  }

  get session(): Session {
    return this.#session;
  }

  get tail(): number {
    return this.#tail;
  }

  get eventsTail(): number {
    return this.#eventsTail;
  }

  /** `lost`: the connection has ended; another may continue it. `closed`: the session was removed, or the watch disposed. */
  get state(): "open" | "lost" | "closed" {
    return this.#state;
  }

  /** Nothing changes any more on this connection. */
  get isClosed(): boolean {
    return this.#state !== "open";
  }

  /** Resolves at the next change of a tail, of the session or of the state, or when the signal comes. */
  async changed({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#state === "closed" || signal?.aborted === true) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.add(resolve);
    using _abort = signal === undefined ? undefined : addAbortListener(signal, () => resolve());
    await promise;
    this.#waiters.delete(resolve);
  }

  /** Resolves when `check` holds, or when the host goes or the signal comes. */
  async until(
    check: (watch: Watch) => boolean,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    while (!check(this) && !this.isClosed && options.signal?.aborted !== true)
      await this.changed(options);
  }

  /** Calls at every change, for those who have a loop of their own. */
  on(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  onTail(notice: TailNotice): void {
    this.#tail = Math.max(this.#tail, notice.tail);
    this.#eventsTail = Math.max(this.#eventsTail, notice.events_tail);
    this.#wake();
  }

  /** What was printed last, if it came with the news: it stands in the log as well. */
  get recent(): Recent | undefined {
    return this.#recent;
  }

  onOutput({ channel, bytes, ...notice }: OutputNotice): void {
    this.#recent = { offset: notice.tail - bytes.length, channel, bytes };
    this.onTail(notice);
  }

  onSession(session: Session): void {
    this.#session = session;
    this.#tail = Math.max(this.#tail, session.tail);
    this.#eventsTail = Math.max(this.#eventsTail, session.events_tail);
    this.#wake();
  }

  onLost(): void {
    if (this.#state === "open") this.#state = "lost";
    this.#wake();
  }

  /** Another connection watches the session. */
  onReopened(session: Session, dispose: () => void): void {
    this.#dispose = dispose;
    this.#state = "open";
    this.onSession(session);
  }

  onClosed(): void {
    this.#state = "closed";
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.onClosed();
    this.#dispose();
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
    for (const listener of [...this.#listeners]) listener();
  }
}
