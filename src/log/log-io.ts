import * as fs from "node:fs";
import { errnoOf, isErrno } from "#base/errno.ts";

/** The calls of `node:fs` that a log makes, so that a test can let any of them fail. */
export interface LogIo {
  mkdirSync(path: string, options: { recursive: true; mode: number }): unknown;
  readdirSync(path: string): string[];
  openSync(path: string, flags: number, mode?: number): number;
  closeSync(fd: number): void;
  statSync(path: string, options: { throwIfNoEntry: false }): FileFacts | undefined;
  fstatSync(fd: number): FileFacts;
  readSync(fd: number, into: Uint8Array, range: IoRange): number;
  // Five plain arguments, as in Node: an object for each append would be garbage on the hot path.
  writeSync(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  ftruncateSync(fd: number, size: number): void;
  unlinkSync(path: string): void;
}

export interface IoRange {
  readonly offset: number;
  readonly length: number;
  readonly position: number;
}

export interface FileFacts {
  readonly size: number;
  readonly ino: number;
}

export const nodeIo: LogIo = fs;

/** Reads until the buffer is full or the file ends; says how many bytes there were. */
export function readFully(io: LogIo, fd: number, { into, position }: Placed): number {
  let done = 0;
  while (done < into.length) {
    const range = { offset: done, length: into.length - done, position: position + done };
    const count = io.readSync(fd, into, range);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** Writes all of it or throws; what a failure left behind is overwritten by the next attempt at the same place. */
export function writeFully(io: LogIo, fd: number, { into: bytes, position }: Placed): void {
  let done = 0;
  while (done < bytes.length) {
    const count = io.writeSync(fd, bytes, done, bytes.length - done, position + done);
    if (count === 0) throw noProgress();
    done += count;
  }
}

/** What closing could still report (a network file system) was no promise of ours. */
export function closeQuietly(io: LogIo, fd: number): void {
  try {
    io.closeSync(fd);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

export function unlinkIfThere(io: LogIo, path: string): void {
  try {
    io.unlinkSync(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}

/** A write that takes nothing and names no error would otherwise be tried for ever. */
export function noProgress(): Error {
  return Object.assign(new Error("the file system took no bytes"), { code: "EIO" });
}

interface Placed {
  readonly into: Uint8Array;
  readonly position: number;
}
