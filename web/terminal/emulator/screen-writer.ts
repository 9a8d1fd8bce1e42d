import { SequenceFilter } from "#contract/terminal/sequence-filter.ts";

/** Handed to the emulator and not parsed: more than it parses in a moment, less than anybody notices. */
const OUTSTANDING_BYTES = 512 * 1024;

interface Emulated {
  /** Calls back when it is parsed, in order. */
  write(data: Uint8Array, done: () => void): void;
}

/**
 * The only way to the emulator. Whoever awaits `write` is slowed down to what the emulator can take, and while it parses
 * it can be asked whether what it parses just now is live. Strings without an end do not reach it.
 */
export class ScreenWriter implements Disposable {
  readonly #target: Emulated;
  readonly #mostBytes: number;
  readonly #encoder = new TextEncoder();
  #filter = new SequenceFilter();
  readonly #queue: { readonly isLive: boolean; readonly size: number }[] = [];
  #waiting: { readonly below: number; readonly resolve: () => void }[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(target: Emulated, { mostBytes = OUTSTANDING_BYTES } = {}) {
    this.#target = target;
    this.#mostBytes = mostBytes;
  }

  /** Of what is being parsed. */
  get isLive(): boolean {
    return this.#queue[0]?.isLive ?? false;
  }

  /** Settles when there is room for more. `isLive`: printed while somebody was here to answer. */
  write(data: string | Uint8Array, { isLive }: { readonly isLive: boolean }): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    const bytes = typeof data === "string" ? this.#encoder.encode(data) : data;
    const passed = this.#filter.push(bytes);
    if (passed.length === 0) return this.#until(this.#mostBytes);
    this.#queue.push({ isLive, size: passed.length });
    this.#bytes += passed.length;
    this.#target.write(passed, () => this.#parsed());
    return this.#until(this.#mostBytes);
  }

  /** The emulator was reset, and with it what was unfinished. */
  restart(): void {
    this.#filter = new SequenceFilter();
  }

  /** Settles when everything is parsed. */
  settled(): Promise<void> {
    return this.#until(1);
  }

  /** Nobody waits any longer. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#release(Number.NEGATIVE_INFINITY);
  }

  #until(below: number): Promise<void> {
    if (this.#isOver || this.#bytes < below) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ below, resolve }));
  }

  #parsed(): void {
    const first = this.#queue.shift();
    this.#bytes -= first?.size ?? 0;
    this.#release(this.#bytes);
  }

  #release(bytes: number): void {
    const ready = this.#waiting.filter(({ below }) => bytes < below);
    this.#waiting = this.#waiting.filter(({ below }) => bytes >= below);
    for (const { resolve } of ready) resolve();
  }
}
