import { constants } from "node:fs";
import { isErrno } from "#base/errno.ts";
import { HEADER_BYTES, type IndexHeader, parseHeader } from "./index-format.ts";
import { type LogIo, readFully } from "./log-io.ts";

/**
 * A log is a directory of segments of one size, each with an index that lives and dies with it:
 *
 *   0000000000000000  0000000000000000.idx     the first one is never evicted
 *   0000000008388608  0000000008388608.idx     named after the offset of its first byte
 *
 * So the name of the file that holds an offset is arithmetic, a missing one below the tail is a gap, and the
 * tail is where the last one ends. An index is made before its segment and removed after it.
 */
export const SEGMENT_BYTES = 4 * 1024 * 1024;

/** Wide enough for every offset that a number can hold exactly. */
const NAME_DIGITS = 16;
const NAME = /^\d{16}$/;

export function segmentPath(dir: string, start: number): string {
  return `${dir}/${String(start).padStart(NAME_DIGITS, "0")}`;
}

export function indexPath(dir: string, start: number): string {
  return `${segmentPath(dir, start)}.idx`;
}

/** The starts of the segments that are there, in order; none when there is no directory yet. */
export function listSegments(dir: string, io: LogIo): number[] {
  try {
    const names = io.readdirSync(dir).filter((name) => NAME.test(name));
    return names.map(Number).sort((a, b) => a - b);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

/** The header of a segment's index; undefined when the file is missing or was torn by a crash. */
export function readHeader(dir: string, start: number, io: LogIo): IndexHeader | undefined {
  const path = indexPath(dir, start);
  const fd = openExisting(path, io);
  if (fd === undefined) return undefined;
  try {
    return readHeaderOf(fd, path, io);
  } finally {
    io.closeSync(fd);
  }
}

export function readHeaderOf(fd: number, path: string, io: LogIo): IndexHeader | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const count = readFully(io, fd, { into: bytes, position: 0 });
  return parseHeader(bytes.subarray(0, count), path);
}

/** Opens for reading; undefined when the file is not there. */
export function openExisting(path: string, io: LogIo): number | undefined {
  try {
    return io.openSync(path, constants.O_RDONLY);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
