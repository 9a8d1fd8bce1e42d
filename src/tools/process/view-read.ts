import { endOf } from "#log/log-source.ts";
import { SEGMENT_BYTES } from "#log/segment-files.ts";
import type { LogReader } from "#session/session-host.ts";

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Bytes that follow each other in the log. */
export interface Run {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** Reads parts of one range of a log and remembers which gaps it met. */
export class RangeReader {
  readonly #source: LogReader;
  readonly #range: Span;
  readonly #gaps: Span[] = [];

  constructor(source: LogReader, range: Span) {
    this.#source = source;
    this.#range = range;
  }

  /** From the start of the range up to the first gap. */
  head(most: number): Run {
    const { from, to } = this.#range;
    const end = Math.min(to, from + most);
    const parts: Uint8Array[] = [];
    for (let at = from; at < end; ) {
      const chunk = this.#source.read(at, { limit: end - at, tail: to });
      if (chunk?.kind === "gap") this.#gaps.push(chunk);
      if (chunk?.kind !== "bytes") break;
      parts.push(chunk.bytes);
      at = endOf(chunk);
    }
    return { start: from, bytes: Buffer.concat(parts) };
  }

  /** From behind the last gap to the end of the range. */
  tail(most: number): Run {
    const { from, to } = this.#range;
    return readBehindGaps(this.#source, { from: Math.max(from, to - most), to }, this.#gaps);
  }

  /** What stands before the range, and says in the middle of what it begins. */
  before(most: number): Run {
    const { from } = this.#range;
    return readBehindGaps(this.#source, { from: Math.max(0, from - most), to: from }, []);
  }

  /** Bytes of the range that nobody can read any more, as far as this reader came by. */
  lostBytes(): number {
    this.#askEvicted();
    let lost = 0;
    let end = this.#range.from;
    for (const gap of this.#gaps.toSorted((a, b) => a.from - b.from)) {
      lost += Math.max(0, gap.to - Math.max(gap.from, end));
      end = Math.max(end, gap.to);
    }
    return lost;
  }

  /** Retention evicts what follows the first segment, so one look there finds what is gone between head and tail. */
  #askEvicted(): void {
    const { from, to } = this.#range;
    if (from >= SEGMENT_BYTES || to <= SEGMENT_BYTES) return;
    const chunk = this.#source.read(SEGMENT_BYTES, { limit: 1, tail: to });
    if (chunk?.kind === "gap") this.#gaps.push(chunk);
  }
}

function readBehindGaps(source: LogReader, span: Span, gaps: Span[]): Run {
  let parts: Uint8Array[] = [];
  let start = span.from;
  for (let at = span.from; at < span.to; ) {
    const chunk = source.read(at, { limit: span.to - at, tail: span.to });
    if (chunk === undefined) break;
    at = endOf(chunk);
    if (chunk.kind === "bytes") {
      parts.push(chunk.bytes);
      continue;
    }
    gaps.push(chunk);
    parts = [];
    start = at;
  }
  return { start, bytes: Buffer.concat(parts) };
}
