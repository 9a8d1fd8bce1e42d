import { HEADER_BYTES, type IndexHeader, parseRecord, RECORD_BYTES } from "./index-format.ts";
import { type LogIo, readFully } from "./log-io.ts";
import type { ClosedSegment } from "./retention.ts";
import { indexPath, listSegments, openExisting, readHeader, segmentPath } from "./segment-files.ts";
import type { SegmentPlace } from "./segment-writer.ts";

/** Where a log that is already there ends, for the writer that goes on with it. */
export interface LogEnd {
  /** Undefined when no index of the log can be read. */
  readonly header: IndexHeader | undefined;
  /** Of the last record; times must not go back from one life to the next. */
  readonly time: number;
  readonly last: SegmentPlace;
  readonly closed: readonly ClosedSegment[];
}

/** Undefined when there is no log yet. Throws a Fault, and changes nothing, when it is of a newer format. */
export function findLogEnd(dir: string, io: LogIo): LogEnd | undefined {
  const starts = listSegments(dir, io);
  const start = starts.pop();
  if (start === undefined) return undefined;
  const own = readHeader(dir, start, io);
  const header = own ?? findHeader(dir, starts, io);
  const position = sizeOf(segmentPath(dir, start), io);
  const slots = own === undefined ? 0 : slotsIn(sizeOf(indexPath(dir, start), io));
  return {
    header,
    time: lastTime(dir, [...starts, start], io),
    last: { start, position, slots, made: own !== undefined },
    closed: starts.map((each) => ({ start: each, bytes: diskBytesOf(dir, each, io) })),
  };
}

/** The newest header that can be read; all of a log agree in what they say about it. */
export function findHeader(
  dir: string,
  starts: readonly number[],
  io: LogIo,
): IndexHeader | undefined {
  for (const start of starts.toReversed()) {
    const header = readHeader(dir, start, io);
    if (header !== undefined) return header;
  }
  return undefined;
}

function diskBytesOf(dir: string, start: number, io: LogIo): number {
  return sizeOf(segmentPath(dir, start), io) + sizeOf(indexPath(dir, start), io);
}

function sizeOf(path: string, io: LogIo): number {
  return io.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function slotsIn(indexBytes: number): number {
  return Math.max(0, Math.floor((indexBytes - HEADER_BYTES) / RECORD_BYTES));
}

/** A segment that was just begun may have no record yet. */
function lastTime(dir: string, starts: readonly number[], io: LogIo): number {
  for (const start of starts.toReversed()) {
    const time = findLastTime(indexPath(dir, start), io);
    if (time !== undefined) return time;
  }
  return 0;
}

function findLastTime(path: string, io: LogIo): number | undefined {
  const fd = openExisting(path, io);
  if (fd === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(RECORD_BYTES);
    for (let slot = slotsIn(io.fstatSync(fd).size) - 1; slot >= 0; slot -= 1) {
      readFully(io, fd, { into: bytes, position: HEADER_BYTES + slot * RECORD_BYTES });
      const record = parseRecord(bytes, 0);
      if (record !== undefined) return record.time;
    }
    return undefined;
  } finally {
    io.closeSync(fd);
  }
}
