import type { Clock } from "./clock.ts";

interface Pending {
  readonly due: number;
  readonly run: () => void;
}

/** A clock that moves only when told to; timers run in the order in which they fall due. */
export class ManualClock implements Clock {
  #elapsed = 0;
  readonly #epoch: number;
  readonly #pending = new Set<Pending>();

  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.#epoch = epoch;
  }

  now(): number {
    return this.#epoch + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  timer(ms: number, run: () => void): Disposable {
    const entry: Pending = { due: this.#elapsed + Math.max(0, ms), run };
    this.#pending.add(entry);
    return { [Symbol.dispose]: () => void this.#pending.delete(entry) };
  }

  get timers(): number {
    return this.#pending.size;
  }

  advance(ms: number): void {
    const until = this.#elapsed + ms;
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#pending.delete(next);
      this.#elapsed = Math.max(this.#elapsed, next.due);
      next.run();
    }
    this.#elapsed = until;
  }

  #next(until: number): Pending | undefined {
    let first: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.due <= until && (first === undefined || entry.due < first.due)) first = entry;
    }
    return first;
  }
}
