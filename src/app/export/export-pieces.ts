import { setImmediate } from "node:timers/promises";
import { channels } from "#contract/channels.ts";
import type { LogRecord } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import type { LogReader } from "#session/session-host.ts";

/** The output in order, cut where its time, its channel or the size of the terminal changes. */
export type Piece =
  | {
      readonly kind: "bytes";
      readonly offset: number;
      readonly at_ms: number;
      readonly channel: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "gap"; readonly from: number; readonly to: number; readonly at_ms: number }
  | { readonly kind: "size"; readonly cols: number; readonly rows: number; readonly at_ms: number };

const CHUNK_BYTES = 64 * 1024;
/** After so much the others of the process get their turn. */
const TURN_BYTES = 256 * 1024;

/** Up to `to`, which was the tail once. Reads as it is asked and holds one chunk. */
export async function* readPieces(log: LogReader, to: number): AsyncGenerator<Piece, void, void> {
  const marks = log.records(0, to)[Symbol.iterator]();
  const cutter = new Cutter(marks);
  try {
    let turn = 0;
    for (let next = 0; next < to; ) {
      const chunk = log.read(next, { limit: CHUNK_BYTES, tail: to });
      if (chunk === undefined) break;
      if (chunk.kind === "gap") yield* cutter.gap(chunk.from, chunk.to);
      else yield* cutter.bytes(chunk);
      turn += endOf(chunk) - next;
      next = endOf(chunk);
      if (turn < TURN_BYTES) continue;
      turn = 0;
      await setImmediate();
    }
  } finally {
    // It holds a file open.
    marks.return?.();
  }
}

type Bytes = Omit<Extract<Piece, { kind: "bytes" }>, "kind">;

/** Lays the marks of the index, which have the times, over the bytes, which come in larger runs. */
class Cutter {
  readonly #marks: Iterator<LogRecord>;
  #mark: LogRecord | undefined;
  #at = 0;

  constructor(marks: Iterator<LogRecord>) {
    this.#marks = marks;
    this.#next();
  }

  *bytes({ offset, channel, at_ms, bytes }: Bytes): Generator<Piece> {
    yield* this.#marksBefore(offset);
    this.#at = Math.max(this.#at, at_ms);
    const end = offset + bytes.length;
    let from = offset;
    for (let mark = this.#mark; mark !== undefined && mark.offset < end; mark = this.#mark) {
      if (mark.offset > from) {
        yield this.#piece({
          offset: from,
          channel,
          bytes: bytes.subarray(from - offset, mark.offset - offset),
        });
        from = mark.offset;
      }
      yield* this.#pass(mark);
    }
    yield this.#piece({ offset: from, channel, bytes: bytes.subarray(from - offset) });
  }

  *gap(from: number, to: number): Generator<Piece> {
    yield* this.#marksBefore(from);
    yield { kind: "gap", from, to, at_ms: this.#at };
    yield* this.#marksBefore(to);
  }

  #piece(piece: Omit<Bytes, "at_ms">): Piece {
    return { kind: "bytes", at_ms: this.#at, ...piece };
  }

  *#marksBefore(offset: number): Generator<Piece> {
    for (let mark = this.#mark; mark !== undefined && mark.offset < offset; mark = this.#mark)
      yield* this.#pass(mark);
  }

  *#pass(mark: LogRecord): Generator<Piece> {
    // Recordings are played forward only.
    this.#at = Math.max(this.#at, mark.at_ms);
    if (mark.kind === "resize")
      yield { kind: "size", cols: mark.cols, rows: mark.rows, at_ms: this.#at };
    this.#next();
  }

  #next(): void {
    const step = this.#marks.next();
    this.#mark = step.done === true ? undefined : step.value;
  }
}

/**
 * Output as text, a character never cut: what is unfinished at the end of a piece waits for the next of its channel.
 * Bytes that are no text become U+FFFD.
 */
export class OutputDecoder {
  readonly #stdout = createDecoder();
  readonly #stderr = createDecoder();

  push(channel: number, bytes: Uint8Array): string {
    const decoder = channel === channels.stderr ? this.#stderr : this.#stdout;
    return decoder.decode(bytes, { stream: true });
  }

  /** Before a gap and at the end. */
  flush(): string {
    return this.#stdout.decode() + this.#stderr.decode();
  }
}

function createDecoder() {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
