import { limits } from "#contract/limits.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import type { LogChunk } from "./log-source.ts";

/** Without its newline. Beyond this a line is nothing that a writer of ours wrote. */
export const LINE_LIMIT = limits.event_line_bytes;

/** A whole line with the object it holds, or a range that has none. */
export type LogLine =
  | {
      readonly kind: "line";
      readonly end_offset: number;
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: "skipped";
      readonly from: number;
      readonly to: number;
      readonly reason: SkipReason;
    };

/**
 * - `malformed`: no JSON object; mostly half a line that a crash left and the next life ended
 * - `gap`: lost or evicted, with what came before it in the same line
 * - `unfinished`: the input ended before the line did; who reads on later begins at `from`
 */
export type SkipReason = "too_long" | "malformed" | "gap" | "unfinished";

const NEWLINE = 0x0a;

/** The lines in chunks that follow each other, the first of which begins a line. Empty lines are nothing. */
export async function* lines(
  chunks: AsyncIterable<LogChunk> | Iterable<LogChunk>,
): AsyncGenerator<LogLine, void, void> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** Holds at most one line. Splits bytes, not text, so a character across two chunks is never cut. */
class LineSplitter {
  #from = 0;
  #to = 0;
  #pieces: Uint8Array[] = [];

  *push(chunk: LogChunk): Generator<LogLine> {
    if (chunk.kind === "gap") {
      const from = this.#pending() ? this.#from : chunk.from;
      this.#restart(chunk.to);
      yield { kind: "skipped", from, to: chunk.to, reason: "gap" };
      return;
    }
    if (!this.#pending()) this.#restart(chunk.offset);
    let done = 0;
    for (;;) {
      const newline = chunk.bytes.indexOf(NEWLINE, done);
      this.#add(chunk.bytes.subarray(done, newline < 0 ? chunk.bytes.length : newline));
      if (newline < 0) return;
      done = newline + 1;
      const line = this.#whole(chunk.offset + done);
      if (line !== undefined) yield line;
      this.#restart(chunk.offset + done);
    }
  }

  *end(): Generator<LogLine> {
    if (!this.#pending()) return;
    const reason = this.#isTooLong() ? "too_long" : "unfinished";
    yield { kind: "skipped", from: this.#from, to: this.#to, reason };
  }

  #pending(): boolean {
    return this.#to > this.#from;
  }

  #isTooLong(): boolean {
    return this.#to - this.#from > LINE_LIMIT;
  }

  #restart(offset: number): void {
    this.#from = offset;
    this.#to = offset;
    this.#pieces = [];
  }

  #add(piece: Uint8Array): void {
    this.#to += piece.length;
    if (this.#isTooLong()) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #whole(end: number): LogLine | undefined {
    const from = this.#from;
    if (!this.#pending()) return undefined;
    if (this.#isTooLong()) return { kind: "skipped", from, to: end, reason: "too_long" };
    const text = Buffer.concat(this.#pieces).toString("utf8");
    const value = parseObject(text);
    if (value === undefined) return { kind: "skipped", from, to: end, reason: "malformed" };
    return { kind: "line", end_offset: end, text, value };
  }
}
