import type { Clock } from "#base/clock.ts";
import { limits } from "#contract/limits.ts";

const NEWLINE = 10;

/** How often a disk that was full is tried again. */
const RETRY_MS = 250;

export interface AgentLinesDeps {
  readonly clock: Clock;
  /** How many of the bytes were kept. */
  readonly append: (lines: Buffer) => number;
  /** A line over the limit was dropped. */
  readonly tooLong: () => void;
  /** Called when bytes must wait, and when they no longer do. */
  readonly held: (isHeld: boolean) => void;
}

/**
 * An agent's stdout, appended to its events log by whole lines. Its events are its history, so nothing is given up
 * when the disk is full: the rest is held, the caller stops reading the worker, and it is tried again.
 */
export class AgentLines implements Disposable {
  readonly #deps: AgentLinesDeps;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #isSkipping = false;
  #held: Buffer[] = [];
  #retrying: Disposable | undefined;
  readonly #deferred: (() => void)[] = [];

  constructor(deps: AgentLinesDeps) {
    this.#deps = deps;
  }

  get isHeld(): boolean {
    return this.#held.length > 0;
  }

  /** The line that has not ended yet; what is held is not part of it. */
  handOver(): { partial_b64: string; is_skipping: boolean } {
    return {
      partial_b64: Buffer.concat(this.#partial).toString("base64"),
      is_skipping: this.#isSkipping,
    };
  }

  adopt(line: { readonly partial_b64: string; readonly is_skipping: boolean }): void {
    this.#isSkipping = line.is_skipping;
    this.#keep(Buffer.from(line.partial_b64, "base64"));
  }

  push(bytes: Buffer): void {
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#complete(bytes.subarray(0, end));
    if (end < bytes.length) this.#keep(bytes.subarray(end));
  }

  /** Runs behind what was pushed before: at once, or when the held bytes are written. */
  whenWritten(run: () => void): void {
    if (this.isHeld) this.#deferred.push(run);
    else run();
  }

  /** What waits for held bytes has waited long enough. */
  giveUpWaiting(): void {
    for (const run of this.#deferred.splice(0)) run();
  }

  /** What is held is given up; nothing is appended or run after this. */
  [Symbol.dispose](): void {
    this.#retrying?.[Symbol.dispose]();
    this.#held = [];
    this.#deferred.length = 0;
  }

  #retry(): void {
    const lines = Buffer.concat(this.#held);
    this.#held = [];
    this.#write(lines);
    if (this.isHeld) return;
    this.#deps.held(false);
    this.giveUpWaiting();
  }

  #complete(lines: Buffer): void {
    const end = lines.indexOf(NEWLINE);
    // The end of a line may be what takes it over the limit.
    const isTooLong = !this.#isSkipping && this.#partialBytes + end > limits.event_line_bytes;
    if (isTooLong) this.#skipLine();
    const rest = this.#isSkipping ? lines.subarray(end + 1) : lines;
    const whole = Buffer.concat([...this.#partial, rest]);
    this.#isSkipping = false;
    this.#partial = [];
    this.#partialBytes = 0;
    if (whole.length > 0) this.#write(whole);
  }

  #skipLine(): void {
    this.#isSkipping = true;
    this.#partial = [];
    this.#partialBytes = 0;
    this.#deps.tooLong();
  }

  #keep(bytes: Buffer): void {
    if (this.#isSkipping) return;
    this.#partialBytes += bytes.length;
    if (this.#partialBytes > limits.event_line_bytes) this.#skipLine();
    // The reader's buffer is used again.
    else this.#partial.push(Buffer.from(bytes));
  }

  #write(lines: Buffer): void {
    if (this.isHeld) {
      this.#held.push(Buffer.from(lines));
      return;
    }
    const kept = this.#deps.append(lines);
    if (kept === lines.length) return;
    this.#held.push(Buffer.from(lines.subarray(kept)));
    this.#retrying = this.#deps.clock.timer(RETRY_MS, () => this.#retry());
    this.#deps.held(true);
  }
}
