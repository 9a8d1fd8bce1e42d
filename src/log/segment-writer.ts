import { constants } from "node:fs";
import { isErrno } from "#base/errno.ts";
import { encodeHeader, encodeRecord, HEADER_BYTES, marks, RECORD_BYTES } from "./index-format.ts";
import { closeQuietly, type LogIo, noProgress, unlinkIfThere, writeFully } from "./log-io.ts";
import { indexPath, readHeader, segmentPath } from "./segment-files.ts";

/** A record at least this often while bytes come, so that a recording has times to play by. */
export const RECORD_INTERVAL_MS = 5;

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** What the segments of one log share. */
export interface SegmentSetting {
  readonly dir: string;
  readonly io: LogIo;
  readonly segmentBytes: number;
  readonly epoch: number;
  /** Whole ms since the epoch; never less than before. */
  readonly time: () => number;
}

/** What is on disk of the segment: how many bytes, how many whole records, and whether files must be made. */
export interface SegmentPlace {
  readonly start: number;
  readonly position: number;
  readonly slots: number;
  readonly made: boolean;
}

interface Files {
  readonly data: number;
  readonly index: number;
}

/** The data or lost record in force. */
interface InForce {
  readonly mark: number;
  readonly channel: number;
  readonly time: number;
}

/** One writer writes one record at a time, so all segments share the bytes. */
const scratch = Buffer.alloc(RECORD_BYTES);

/**
 * One segment being written. The record goes out before the bytes that it speaks of, every write names its
 * place, and memory moves only after the disk did: whatever fails is done again in the same place.
 * All methods throw what the file system throws.
 */
export class SegmentWriter implements Disposable {
  readonly start: number;
  readonly #setting: SegmentSetting;
  #position: number;
  #slots: number;
  #made: boolean;
  #files: Files | undefined;
  // Unknown after opening, so the first bytes of each writer's life get a record of their own.
  #inForce: InForce | undefined;
  /** Where the last data or lost record stands; while the tail is still there no reader looks at it. */
  #last = { slot: -1, offset: -1 };

  constructor(setting: SegmentSetting, place: SegmentPlace) {
    this.#setting = setting;
    this.start = place.start;
    this.#position = place.position;
    this.#slots = place.slots;
    this.#made = place.made;
  }

  get position(): number {
    return this.#position;
  }

  get room(): number {
    return this.#setting.segmentBytes - this.#position;
  }

  get diskBytes(): number {
    return this.#position + HEADER_BYTES + this.#slots * RECORD_BYTES;
  }

  /** Says how many bytes were written, at least one. */
  write(channel: number, bytes: Uint8Array, from: number): number {
    const { data } = this.#files ?? this.open();
    const time = this.#setting.time();
    const now = this.#inForce;
    if (
      now === undefined ||
      now.channel !== channel ||
      now.mark !== marks.data ||
      time - now.time >= RECORD_INTERVAL_MS
    ) {
      this.#enforce({ mark: marks.data, channel, time });
    }
    const length = Math.min(bytes.length - from, this.room);
    const count = this.#setting.io.writeSync(data, bytes, from, length, this.#position);
    if (count === 0) throw noProgress();
    this.#position += count;
    return count;
  }

  /** Steps over bytes that will never be there: a marker, then a hole, which needs no room on the disk. */
  lose(count: number): void {
    const { data } = this.#files ?? this.open();
    if (count === 0) return;
    if (this.#inForce?.mark !== marks.lost) {
      this.#enforce({ mark: marks.lost, channel: 0, time: this.#setting.time() });
    }
    this.#setting.io.ftruncateSync(data, this.#position + count);
    this.#position += count;
  }

  mark(mark: number, a: number, b: number): void {
    const { index } = this.#files ?? this.open();
    const offset = this.start + this.#position;
    encodeRecord(scratch, { offset, time: this.#setting.time(), channel: 0, mark, a, b });
    this.#put(index, this.#slots);
    this.#slots += 1;
  }

  open(): Files {
    if (this.#files !== undefined) return this.#files;
    const { dir, io } = this.#setting;
    if (!this.#made) io.mkdirSync(dir, { recursive: true, mode: DIRECTORY_MODE });
    const index = this.#openIndex();
    try {
      const data = this.#openData();
      this.#made = true;
      this.#files = { data, index };
      return this.#files;
    } catch (error) {
      closeQuietly(io, index);
      throw error;
    }
  }

  /** False when somebody removed, moved or replaced the files. */
  isPresent(): boolean {
    if (!this.#made) return true;
    const { dir, io } = this.#setting;
    const data = io.statSync(segmentPath(dir, this.start), { throwIfNoEntry: false });
    const index = io.statSync(indexPath(dir, this.start), { throwIfNoEntry: false });
    if (data === undefined || index === undefined || data.size < this.#position) return false;
    if (this.#files === undefined) return true;
    const { data: dataFd, index: indexFd } = this.#files;
    return io.fstatSync(dataFd).ino === data.ino && io.fstatSync(indexFd).ino === index.ino;
  }

  [Symbol.dispose](): void {
    if (this.#files === undefined) return;
    const { data, index } = this.#files;
    this.#files = undefined;
    closeQuietly(this.#setting.io, data);
    closeQuietly(this.#setting.io, index);
  }

  #enforce(next: InForce): void {
    const { index } = this.open();
    const offset = this.start + this.#position;
    // A record without bytes yet is replaced, so that retries on a full disk do not pile up.
    const replaces = this.#last.offset === offset && this.#last.slot === this.#slots - 1;
    const slot = replaces ? this.#slots - 1 : this.#slots;
    encodeRecord(scratch, { ...next, offset, a: 0, b: 0 });
    try {
      this.#put(index, slot);
    } catch (error) {
      // For want of room nothing whole was added and the record before is still in force: a hole can still be
      // cut. In any other case it is unknown what the index says now.
      if (replaces || !isErrno(error, "ENOSPC", "EDQUOT")) this.#inForce = undefined;
      throw error;
    }
    this.#slots = slot + 1;
    this.#last = { slot, offset };
    this.#inForce = next;
  }

  #put(index: number, slot: number): void {
    const position = HEADER_BYTES + slot * RECORD_BYTES;
    writeFully(this.#setting.io, index, { into: scratch, position });
  }

  #openIndex(): number {
    const { dir, io } = this.#setting;
    const path = indexPath(dir, this.start);
    if (this.#made) return io.openSync(path, constants.O_WRONLY);
    // What is left of a dead life is replaced, not continued: its records may speak of bytes that were never there.
    if (io.statSync(path, { throwIfNoEntry: false }) !== undefined) {
      readHeader(dir, this.start, io); // refuses what is not ours to replace
      unlinkIfThere(io, path);
    }
    const fd = io.openSync(path, constants.O_WRONLY | constants.O_CREAT, FILE_MODE);
    try {
      this.#begin(fd);
      return fd;
    } catch (error) {
      closeQuietly(io, fd);
      throw error;
    }
  }

  #begin(index: number): void {
    const { io, segmentBytes, epoch } = this.#setting;
    const header = encodeHeader({ segmentBytes, start: this.start, epoch });
    writeFully(io, index, { into: header, position: 0 });
    this.#slots = 0;
    if (this.#position === 0) return;
    // The bytes below are gone with their files, or nothing says any more whose they were.
    const time = this.#setting.time();
    encodeRecord(scratch, { offset: this.start, time, channel: 0, mark: marks.lost, a: 0, b: 0 });
    this.#put(index, 0);
    this.#slots = 1;
  }

  #openData(): number {
    const { dir, io } = this.#setting;
    const path = segmentPath(dir, this.start);
    if (this.#made) return io.openSync(path, constants.O_WRONLY);
    const fd = io.openSync(path, constants.O_WRONLY | constants.O_CREAT, FILE_MODE);
    try {
      if (io.fstatSync(fd).size < this.#position) io.ftruncateSync(fd, this.#position);
      return fd;
    } catch (error) {
      closeQuietly(io, fd);
      throw error;
    }
  }
}
