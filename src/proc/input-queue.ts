import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** What a non-blocking write did: so many bytes, "full" for now, or "gone" for good. */
export type WriteResult = number | "full" | "gone";

export interface InputQueueDeps {
  readonly clock: Clock;
  readonly write: (bytes: Uint8Array) => WriteResult;
  /** Runs once, behind the last byte, when the end was asked for. */
  readonly end: () => void;
}

/** A PTY takes at most this much at a time; larger writes only copy more. */
const WRITE_BYTES = 4096;
const SHORTEST_RETRY_MS = 1;
const LONGEST_RETRY_MS = 20;

/**
 * Input for a child, in order and bounded. A child that does not read costs a retry every 20 ms and never blocks
 * the event loop. Bytes for a child that has closed its input are dropped: nobody is left to read them.
 */
export class InputQueue implements Disposable {
  readonly #deps: InputQueueDeps;
  #chunks: Uint8Array[] = [];
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
    if (bytes.length === 0) return;
    this.#chunks.push(Uint8Array.from(bytes));
    this.#bytes += bytes.length;
    if (this.#retry === undefined) this.#flush();
  }

  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#retry === undefined) this.#flush();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#chunks = [];
    this.#bytes = 0;
    this.#retry?.[Symbol.dispose]();
    this.#retry = undefined;
  }

  #flush(): void {
    while (this.#chunks.length > 0) {
      const head = this.#chunks[0];
      if (head === undefined) break;
      const result = this.#deps.write(head.subarray(0, WRITE_BYTES));
      if (result === "gone" || result === "full") {
        if (result === "gone") this[Symbol.dispose]();
        else this.#retryLater();
        return;
      }
      this.#retryMs = SHORTEST_RETRY_MS;
      this.#bytes -= result;
      if (result === head.length) this.#chunks.shift();
      else this.#chunks[0] = head.subarray(result);
    }
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
