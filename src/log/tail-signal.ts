import { addAbortListener } from "node:events";

/** News about how far a log reaches: what a follower waits on. */
export interface Tails {
  current(): number;
  /** Settles once the tail is past the given offset; rejects with the signal's reason. */
  moved(past: number, options: { readonly signal: AbortSignal }): Promise<void>;
}

interface Waiter {
  readonly past: number;
  readonly resolve: () => void;
}

/** The tails of a log that is written in this process. Says nothing by itself: the owner advances it. */
export class TailSignal implements Tails {
  #tail: number;
  readonly #waiters = new Set<Waiter>();

  constructor(tail = 0) {
    this.#tail = tail;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  current(): number {
    return this.#tail;
  }

  /** To be called after the bytes are in the file, never before. */
  advance(tail: number): void {
    if (tail <= this.#tail) return;
    this.#tail = tail;
    for (const waiter of this.#waiters) {
      if (waiter.past < tail) waiter.resolve();
    }
  }

  async moved(past: number, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    if (this.#tail > past) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    using _abort = addAbortListener(signal, () => reject(signal.reason));
    const waiter = { past, resolve };
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
    }
  }
}
