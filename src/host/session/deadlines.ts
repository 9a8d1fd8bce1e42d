import type { Clock } from "#base/clock.ts";

/** Calls back once when nothing has touched it for so long; re-checked when the time comes, so a touch costs nothing. */
export class IdleTimer implements Disposable {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #expired: () => void;
  #touched: number;
  #timer: Disposable | undefined;

  /** 0 is never. */
  constructor(clock: Clock, ms: number, expired: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#expired = expired;
    this.#touched = clock.monotonic();
    if (ms > 0) this.#arm(ms);
  }

  touch(): void {
    this.#touched = this.#clock.monotonic();
  }

  get touchedAt(): number {
    return this.#touched;
  }

  /** How long ago it was touched. */
  get age(): number {
    return this.#clock.monotonic() - this.#touched;
  }

  /** As if it had been touched so long ago. */
  restore(ageMs: number): void {
    this.#touched = this.#clock.monotonic() - ageMs;
    if (this.#timer === undefined) return;
    this.#timer[Symbol.dispose]();
    this.#arm(Math.max(0, this.#ms - ageMs));
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.timer(ms, () => {
      const left = this.#touched + this.#ms - this.#clock.monotonic();
      if (left > 0) this.#arm(left);
      else this.#expired();
    });
  }
}
