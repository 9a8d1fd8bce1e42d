import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** What a non-blocking write did: so many bytes, "full" for now, or "gone" for good. */
export type WriteResult = number | "full" | "gone";

interface InputQueueDeps {
  readonly clock: Clock;
  readonly write: (bytes: Uint8Array) => WriteResult;
  /** Runs once, behind the last byte, when the end was asked for. */
  readonly end: () => void;
}

/** A PTY takes at most this much at a time; larger writes only copy more. */
const WRITE_BYTES = 4096;
const SHORTEST_RETRY_MS = 1;
const LONGEST_RETRY_MS = 20;
/** What an empty queue may keep; a larger buffer is given back. */
const KEPT_BYTES = 4096;

const NOTHING = new Uint8Array(0);

/**
 * Input for a child, in order and bounded. A child that does not read costs a retry every 20 ms and never blocks
 * the event loop. Bytes for a child that has closed its input are dropped: nobody is left to read them.
 */
export class InputQueue implements Disposable {
  readonly #deps: InputQueueDeps;
  /** A ring: keystrokes that nobody reads must not cost an object each. */
  #ring = NOTHING;
  #start = 0;
  #bytes = 0;
  #ending = false;
  #closed = false;
  #retryMs = SHORTEST_RETRY_MS;
  #retry: Disposable | undefined;

  constructor(deps: InputQueueDeps) {
    this.#deps = deps;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What was taken and not written yet, for another queue to go on with; changes nothing. */
  handOver(): { readonly bytes: Buffer; readonly isEnding: boolean } {
    const first = this.#ring.subarray(this.#start, this.#start + this.#bytes);
    const rest = this.#ring.subarray(0, this.#bytes - first.length);
    return { bytes: Buffer.concat([first, rest]), isEnding: this.#ending && !this.#closed };
  }

  /** The queue keeps its own copy. */
  push(bytes: Uint8Array): void {
    if (this.#closed || this.#ending) return;
    if (this.#bytes + bytes.length > limits.input_queue_bytes) {
      throw new Fault(
        "queue_full",
        "the program is not reading its input and the queue for it is full; try again later",
        {
          details: { queued_bytes: this.#bytes, limit_bytes: limits.input_queue_bytes },
        },
      );
    }
    this.#append(bytes);
    if (this.#retry === undefined) this.#flush();
  }

  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#retry === undefined) this.#flush();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#ring.fill(0);
    this.#ring = NOTHING;
    this.#start = 0;
    this.#bytes = 0;
    this.#retry?.[Symbol.dispose]();
    this.#retry = undefined;
  }

  #append(bytes: Uint8Array): void {
    if (this.#bytes + bytes.length > this.#ring.length) this.#grow(this.#bytes + bytes.length);
    const end = (this.#start + this.#bytes) % this.#ring.length || 0;
    const fitting = Math.min(bytes.length, this.#ring.length - end);
    this.#ring.set(bytes.subarray(0, fitting), end);
    this.#ring.set(bytes.subarray(fitting), 0);
    this.#bytes += bytes.length;
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, this.#ring.length * 2, KEPT_BYTES));
    const first = this.#ring.subarray(this.#start, this.#start + this.#bytes);
    larger.set(first);
    larger.set(this.#ring.subarray(0, this.#bytes - first.length), first.length);
    this.#ring.fill(0);
    this.#ring = larger;
    this.#start = 0;
  }

  #flush(): void {
    while (this.#bytes > 0) {
      const length = Math.min(WRITE_BYTES, this.#bytes, this.#ring.length - this.#start);
      const result = this.#deps.write(this.#ring.subarray(this.#start, this.#start + length));
      if (result === "gone" || result === "full") {
        if (result === "gone") this[Symbol.dispose]();
        else this.#retryLater();
        return;
      }
      this.#retryMs = SHORTEST_RETRY_MS;
      // A password or a key that was typed does not stay in memory.
      this.#ring.fill(0, this.#start, this.#start + result);
      this.#bytes -= result;
      this.#start = (this.#start + result) % this.#ring.length;
    }
    this.#start = 0;
    if (this.#ring.length > KEPT_BYTES) this.#ring = NOTHING;
    if (!this.#ending) return;
    this[Symbol.dispose]();
    this.#deps.end();
  }

  #retryLater(): void {
    this.#retry = this.#deps.clock.timer(this.#retryMs, () => {
      this.#retry = undefined;
      this.#flush();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }
}
