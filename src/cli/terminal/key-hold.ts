import type { Clock } from "#base/clock.ts";

/** A program that prints nothing for so long after SIGWINCH does not paint anew. */
export const REPAINT_MS = 1000;
/** More than that is not typed by hand: it is sent without waiting. */
export const HELD_CHUNKS = 256;

/**
 * Keys typed right after a SIGWINCH wait until the program has printed something. A program like less loses the key
 * that it has just read when the signal interrupts it, and the signal was our doing, not the user's.
 */
export class KeyHold implements Disposable {
  readonly #send: (bytes: Buffer) => void;
  readonly #clock: Clock;
  #held: Buffer[] = [];
  #timer: Disposable | undefined;

  constructor(send: (bytes: Buffer) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  begin(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.timer(REPAINT_MS, () => this.release());
  }

  push(bytes: Buffer): void {
    this.#held.push(bytes);
    if (this.#timer === undefined || this.#held.length >= HELD_CHUNKS) this.release();
  }

  release(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const held = this.#held;
    this.#held = [];
    for (const bytes of held) this.#send(bytes);
  }

  /** Keys typed before the user left are for the program. */
  [Symbol.dispose](): void {
    this.release();
  }
}
