import type { Clock } from "#base/clock.ts";
import { limits } from "#contract/limits.ts";

/** Joins small pieces of text, so that a fast model writes at most twenty events a second. */
export class DeltaBuffer {
  readonly #clock: Clock;
  readonly #write: (text: string) => void;
  #text = "";
  #timer: Disposable | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, write: (text: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  add(text: string): void {
    this.#text += text;
    const wait = this.#writtenAt + limits.delta_every_ms - this.#clock.monotonic();
    if (wait <= 0 || this.#text.length >= limits.delta_chars) this.flush();
    else this.#timer ??= this.#clock.timer(wait, () => this.flush());
  }

  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#writtenAt = this.#clock.monotonic();
    this.#write(text);
  }
}
