import { Fault } from "#contract/fault.ts";
import { type IndexHeader, type IndexRecord, marks } from "./index-format.ts";
import { findHeader } from "./log-end.ts";
import { type LogIo, nodeIo } from "./log-io.ts";
import type { LogChunk, LogSource, ReadOptions } from "./log-source.ts";
import { LogTail } from "./log-tail.ts";
import { listSegments } from "./segment-files.ts";
import { openSegmentReader, type SegmentReader } from "./segment-reader.ts";

/** A log in this machine's files; its writer may be any process, alive or not. Synchronous. */
export interface LogFiles extends LogSource {
  tail(): number;
  first(): number;
  read(cursor: number, options: ReadOptions): LogChunk | undefined;
  /** Wall time in ms at which the log's own time begins; undefined while there is no log. */
  epoch(): number | undefined;
  /** The records with `from <= offset < to` that are still there. */
  records(from: number, to: number): Iterable<LogRecord>;
}

/** What the index says, for those who need more than bytes; `at_ms` is since the log's epoch. */
export type LogRecord = { readonly offset: number; readonly at_ms: number } & (
  | { readonly kind: "data"; readonly channel: number }
  | { readonly kind: "lost" }
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number }
);

/** Opens nothing yet: a log that does not exist has the tail 0. */
export function openLogFiles(dir: string): LogFiles {
  return new FileLog(dir, nodeIo);
}

interface Wanted {
  readonly tail: number;
  readonly end: number;
  readonly into: Uint8Array | undefined;
}

class FileLog implements LogFiles {
  readonly #dir: string;
  readonly #io: LogIo;
  readonly #tail: LogTail;
  #header: IndexHeader | undefined;
  #segment: SegmentReader | undefined;

  constructor(dir: string, io: LogIo) {
    this.#dir = dir;
    this.#io = io;
    this.#tail = new LogTail(dir, io);
  }

  tail(): number {
    return this.#tail.look(this.#anyHeader()?.segmentBytes);
  }

  first(): number {
    return this.#starts()[0] ?? 0;
  }

  epoch(): number | undefined {
    return this.#anyHeader()?.epoch;
  }

  read(cursor: number, options: ReadOptions): LogChunk | undefined {
    const limit = Math.min(Math.floor(options.limit), options.into?.length ?? options.limit);
    if (!(limit >= 1)) throw new RangeError(`a read needs room for a byte, not ${options.limit}`);
    const tail = this.#tailFor(cursor, options.tail);
    if (cursor >= tail) return undefined;
    const wanted = { tail, end: Math.min(tail, cursor + limit), into: options.into };
    const chunk =
      this.#bytesAt(cursor, wanted) ?? this.#gapAt(cursor, tail) ?? this.#bytesAt(cursor, wanted);
    if (chunk !== undefined) return chunk;
    const message = `${this.#dir} is damaged: its index and its segments do not agree at ${cursor}.`;
    throw new Fault("log_damaged", message, { details: { path: this.#dir, offset: cursor } });
  }

  *records(from: number, to: number): Generator<LogRecord> {
    const end = Math.min(to, this.tail());
    for (const start of this.#starts()) {
      if (start >= end) return;
      using segment = openSegmentReader(this.#dir, start, this.#io);
      for (const record of segment?.records(from, end) ?? []) {
        const known = toLogRecord(record);
        if (known !== undefined) yield known;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#segment?.[Symbol.dispose]();
    this.#segment = undefined;
  }

  /** The tail to read up to; the files are only asked when none that is known lies behind the cursor. */
  #tailFor(cursor: number, known: number | undefined): number {
    if (known !== undefined) this.#tail.heard(known);
    if (Number.isSafeInteger(cursor) && cursor >= 0) {
      const enough = known ?? this.#tail.seen;
      if (cursor < enough) return enough;
      const tail = this.tail();
      if (cursor <= tail) return known ?? tail;
    }
    throw this.#outOfRange(cursor);
  }

  #bytesAt(cursor: number, wanted: Wanted): LogChunk | undefined {
    const segment = this.#segmentAt(cursor);
    if (segment === undefined) return undefined;
    const { channel, time, end } = segment.run(cursor, wanted);
    if (channel === undefined) return undefined;
    const length = end - cursor;
    const into = wanted.into?.subarray(0, length) ?? Buffer.allocUnsafe(length);
    const bytes = segment.read(cursor, into);
    if (bytes.length === 0) return undefined;
    return { kind: "bytes", offset: cursor, channel, at_ms: time, bytes };
  }

  /** Undefined when there are bytes at the cursor after all. */
  #gapAt(cursor: number, tail: number): LogChunk | undefined {
    // Looked at anew: the files held open may be ones that were removed and made again meanwhile.
    this[Symbol.dispose]();
    let to = cursor;
    while (to < tail) {
      const segment = this.#segmentAt(to);
      const run = segment?.run(to, { tail, end: tail });
      if (run?.channel !== undefined && segment?.holds(to)) break;
      to = run?.end ?? this.#nextStart(to, tail);
    }
    return to === cursor ? undefined : { kind: "gap", from: cursor, to };
  }

  #segmentAt(offset: number): SegmentReader | undefined {
    if (this.#segment?.covers(offset)) return this.#segment;
    this[Symbol.dispose]();
    const segmentBytes = this.#anyHeader()?.segmentBytes;
    if (segmentBytes === undefined) return undefined;
    this.#segment = openSegmentReader(this.#dir, offset - (offset % segmentBytes), this.#io);
    return this.#segment;
  }

  #nextStart(offset: number, tail: number): number {
    return Math.min(tail, this.#starts().find((start) => start > offset) ?? tail);
  }

  #anyHeader(): IndexHeader | undefined {
    this.#header ??= findHeader(this.#dir, this.#starts(), this.#io);
    return this.#header;
  }

  #starts(): number[] {
    return listSegments(this.#dir, this.#io);
  }

  #outOfRange(cursor: number): Fault {
    const tail = this.tail();
    const first = this.first();
    const message = `There is no offset ${cursor} in this log: it begins at ${first} and ends at ${tail}. Read from ${first}, or follow from ${tail}.`;
    return new Fault("offset_out_of_range", message, { details: { tail, first } });
  }
}

/** Undefined for a mark that this version does not know. */
function toLogRecord(record: IndexRecord): LogRecord | undefined {
  const place = { offset: record.offset, at_ms: record.time };
  switch (record.mark) {
    case marks.data:
      return { ...place, kind: "data", channel: record.channel };
    case marks.lost:
      return { ...place, kind: "lost" };
    case marks.resize:
      return { ...place, kind: "resize", cols: record.a, rows: record.b };
    default:
      return undefined;
  }
}
