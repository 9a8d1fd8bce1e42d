import { Fault } from "#contract/fault.ts";
import type { LogRecord } from "#log/log-files.ts";
import type { LogChunk, ReadOptions } from "#log/log-source.ts";
import type { LogReader } from "#session/session-host.ts";

/** A log in memory, for tests. Nothing is evicted, and nothing is lost. */
export class MemoryLog implements LogReader {
  #bytes = Buffer.alloc(0);
  readonly #starts: { readonly offset: number; readonly channel: number }[] = [];

  append(channel: number, bytes: Buffer): void {
    this.#starts.push({ offset: this.#bytes.length, channel });
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  tail(): number {
    return this.#bytes.length;
  }

  first(): number {
    return 0;
  }

  epoch(): number | undefined {
    return this.#starts.length === 0 ? undefined : 0;
  }

  read(cursor: number, { limit, tail = this.tail(), into }: ReadOptions): LogChunk | undefined {
    if (cursor > this.tail())
      throw new Fault("offset_out_of_range", `there is no offset ${cursor} in this log`);
    if (cursor >= tail) return undefined;
    const next = this.#starts.find(({ offset }) => offset > cursor)?.offset ?? tail;
    const found = this.#bytes.subarray(cursor, Math.min(tail, next, cursor + limit));
    const bytes = into?.subarray(0, found.length) ?? Buffer.alloc(found.length);
    bytes.set(found);
    const channel = this.#starts.findLast(({ offset }) => offset <= cursor)?.channel ?? 0;
    return { kind: "bytes", offset: cursor, channel, at_ms: 0, bytes };
  }

  *records(from: number, to: number): Generator<LogRecord> {
    for (const { offset, channel } of this.#starts)
      if (offset >= from && offset < to) yield { kind: "data", offset, channel, at_ms: 0 };
  }

  [Symbol.dispose](): void {
    // Nothing is open.
  }
}
