const FIRST_MS = 100;
const LONGEST_MS = 5000;

/** Waits; rejects with the signal's reason when it is no longer wanted. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Where time and chance come from. */
export interface Pacing {
  readonly random: () => number;
  readonly pause: Pause;
}

/** How long to wait before trying again: twice as long each time, and never all clients at the same moment. */
export class Backoff {
  readonly #random: () => number;
  readonly #longestMs: number;
  #attempts = 0;

  constructor(random: () => number, longestMs = LONGEST_MS) {
    this.#random = random;
    this.#longestMs = longestMs;
  }

  get attempts(): number {
    return this.#attempts;
  }

  next(): number {
    const full = Math.min(this.#longestMs, FIRST_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    return full / 2 + (full / 2) * this.#random();
  }

  reset(): void {
    this.#attempts = 0;
  }
}

export const pause: Pause = (ms, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  const stop = () => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener("abort", stop);
    resolve();
  }, ms);
  signal?.addEventListener("abort", stop, { once: true });
  return promise;
};
