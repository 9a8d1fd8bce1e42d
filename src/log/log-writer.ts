import type { Clock } from "#base/clock.ts";
import { errnoOf, messageOf } from "#base/errno.ts";
import { marks } from "./index-format.ts";
import { findLogEnd, type LogEnd } from "./log-end.ts";
import { type LogIo, nodeIo, unlinkIfThere } from "./log-io.ts";
import { Retention } from "./retention.ts";
import { SEGMENT_BYTES, segmentPath } from "./segment-files.ts";
import { type SegmentPlace, type SegmentSetting, SegmentWriter } from "./segment-writer.ts";

/** After a failure appends are not tried for this long: a flood of output on a full disk must not keep the host busy. */
export const RETRY_MS = 20;

/** Appends of up to this are tried in spite of that: the last line of a program must not be lost where there is room. */
export const SMALL_BYTES = 4096;

/** So many of them may fail within one pause, for a flood can also come in small pieces. */
export const SMALL_TRIES = 16;

export interface LogWriterOptions {
  readonly dir: string;
  readonly clock: Clock;
  /** Only for a log that begins here; one that goes on keeps its own. */
  readonly segmentBytes?: number;
  /** Bytes and index together; the oldest segments but the very first are evicted beyond it. */
  readonly retainBytes?: number;
  /** An append that would pass it persists nothing and sets the fault `limit`. */
  readonly limitBytes?: number;
  /** False closes the files after each append: for logs that are written rarely and are many. */
  readonly holdOpen?: boolean;
  readonly io?: LogIo;
}

/** What kept bytes from being written: an errno, `limit`, or the code of a Fault. */
export interface LogFault {
  readonly code: string;
  readonly message: string;
}

/** The one writer of a log. Synchronous; a failing disk never throws here but shows in counts and `fault`. */
export interface LogWriter extends Disposable {
  /** The offset behind the last byte that readers may see. Only grows. */
  readonly tail: number;
  /** The start of the oldest segment that is kept. */
  readonly first: number;
  readonly diskBytes: number;
  /** All bytes that `skip` gave up. */
  readonly lostBytes: number;
  /** Stays until bytes are written again: the marker of a loss needs no room and proves nothing. */
  readonly fault: LogFault | undefined;
  /**
   * Says how many of the bytes are in the file now; the tail moved by that many (after what was skipped before).
   * None for a moment after a failure, without trying, unless they are few.
   */
  append(channel: number, bytes: Uint8Array): number;
  /** The next `count` bytes are lost. The tail passes them once a marker could be written. */
  skip(count: number): void;
  /**
   * From now on the tail passes skipped bytes at once: for the end of a log, which a disk that stays full must not make look
   * shorter than it was. A reader that knows this tail meets a gap there, with or without the marker.
   */
  concede(): void;
  /** Tries again to write the marker of skipped bytes; false while it is still owed. */
  settle(): boolean;
  /** Notes a fact at the tail; false when it could not be written. */
  mark(kind: "resize", a: number, b: number): boolean;
  /** Makes the files anew when somebody removed them, at the same tail with a gap below; says whether it had to. */
  ensurePresent(): boolean;
}

/** Goes on at the tail of a log that is already there. Makes no file before the first byte. */
export function openLogWriter(options: LogWriterOptions): LogWriter {
  const io = options.io ?? nodeIo;
  return new FileLogWriter(options, io, findLogEnd(options.dir, io));
}

class FileLogWriter implements LogWriter {
  readonly #clock: Clock;
  readonly #setting: SegmentSetting;
  readonly #retention: Retention;
  readonly #limitBytes: number;
  readonly #holdOpen: boolean;
  #segment: SegmentWriter | undefined;
  #tail: number;
  /** Skipped bytes for which no marker could be written yet. */
  #owed = 0;
  #hasConceded = false;
  #lostBytes = 0;
  #replacements = 0;
  #fault: LogFault | undefined;
  #retryAt: number | undefined;
  /** Within the pause that ends at `#retryAt`. */
  #failedTries = 0;

  constructor(options: LogWriterOptions, io: LogIo, end: LogEnd | undefined) {
    const { dir, clock } = options;
    this.#clock = clock;
    const segmentBytes = end?.header?.segmentBytes ?? options.segmentBytes ?? SEGMENT_BYTES;
    const epoch = end?.header?.epoch ?? clock.now();
    this.#setting = { dir, io, segmentBytes, epoch, time: logTime(clock, epoch, end?.time ?? 0) };
    const budgetBytes = options.retainBytes ?? Number.POSITIVE_INFINITY;
    this.#retention = new Retention({ dir, io, budgetBytes }, end?.closed ?? []);
    this.#limitBytes = options.limitBytes ?? Number.POSITIVE_INFINITY;
    this.#holdOpen = options.holdOpen ?? true;
    this.#tail = end === undefined ? 0 : end.last.start + end.last.position;
    if (end !== undefined) this.#segment = new SegmentWriter(this.#setting, end.last);
  }

  get tail(): number {
    return this.#hasConceded ? this.#tail + this.#owed : this.#tail;
  }

  get first(): number {
    return this.#retention.first ?? this.#segment?.start ?? 0;
  }

  get diskBytes(): number {
    return this.#retention.bytes + (this.#segment?.diskBytes ?? 0);
  }

  get lostBytes(): number {
    return this.#lostBytes;
  }

  get fault(): LogFault | undefined {
    return this.#fault;
  }

  append(channel: number, bytes: Uint8Array): number {
    if (this.#isPaused(bytes.length) || this.#isBeyondLimit(bytes.length)) return 0;
    let done = 0;
    const whole = this.#attempt(() => {
      this.#payOwed();
      while (done < bytes.length) {
        const count = this.#current().write(channel, bytes, done);
        done += count;
        this.#tail += count;
      }
      // Also here, not only at a roll: many small records can make an index larger than its bytes.
      this.#retention.trim(this.#segment?.diskBytes ?? 0);
    });
    if (whole && done > 0) {
      this.#fault = undefined;
      this.#retryAt = undefined;
    }
    return done;
  }

  skip(count: number): void {
    const isFirst = this.#owed === 0;
    this.#owed += count;
    this.#lostBytes += count;
    // The first is always tried: a hole needs no room and can be made where bytes could not.
    if (isFirst || !this.#isTooSoon()) this.settle();
  }

  concede(): void {
    this.#hasConceded = true;
  }

  settle(): boolean {
    return this.#owed === 0 || this.#attempt(() => this.#payOwed());
  }

  mark(kind: "resize", a: number, b: number): boolean {
    return this.#attempt(() => {
      this.#payOwed();
      this.#current().mark(marks[kind], a, b);
    });
  }

  ensurePresent(): boolean {
    const before = this.#replacements;
    this.#attempt(() => this.#restore());
    return this.#replacements > before;
  }

  [Symbol.dispose](): void {
    this.#segment?.[Symbol.dispose]();
  }

  /** Runs what may meet a failing disk; an error that is not the disk's is a bug and is thrown on. */
  #attempt(write: () => void): boolean {
    try {
      // Files that are not held open can be gone each time.
      if (!this.#holdOpen) this.#restore();
      write();
      return true;
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      this.#fault = { code, message: messageOf(error) };
      this.#pause();
      return false;
    } finally {
      if (!this.#holdOpen) this.#segment?.[Symbol.dispose]();
    }
  }

  #isBeyondLimit(count: number): boolean {
    if (this.#tail + this.#owed + count <= this.#limitBytes) return false;
    const message = `the log has reached its limit of ${this.#limitBytes} bytes`;
    this.#fault = { code: "limit", message };
    return true;
  }

  /** A failure within a pause does not lengthen it, so that small appends cannot keep large ones from their turn. */
  #pause(): void {
    if (this.#isTooSoon()) {
      this.#failedTries += 1;
      return;
    }
    this.#retryAt = this.#clock.monotonic() + RETRY_MS;
    this.#failedTries = 0;
  }

  #isPaused(count: number): boolean {
    if (!this.#isTooSoon()) return false;
    return count > SMALL_BYTES || this.#failedTries >= SMALL_TRIES;
  }

  #isTooSoon(): boolean {
    return this.#retryAt !== undefined && this.#clock.monotonic() < this.#retryAt;
  }

  /** The segment that takes the byte at the tail. */
  #current(): SegmentWriter {
    const segment = this.#segment;
    if (segment !== undefined && segment.room > 0) return segment;
    return this.#roll(this.#tail);
  }

  /** Until the new files are there the full segment stays the current one, so a failed roll is just tried again. */
  #roll(start: number): SegmentWriter {
    const full = this.#segment;
    const isPresent = full?.isPresent();
    const next = new SegmentWriter(this.#setting, fresh(start));
    next.open();
    this.#segment = next;
    if (full === undefined) return next;
    full[Symbol.dispose]();
    if (isPresent) this.#retention.add({ start: full.start, bytes: full.diskBytes });
    else this.#retention.forget();
    this.#retention.trim(next.diskBytes);
    return next;
  }

  /** Moves the tail over what is owed: a hole in the current segment, none for whole ones, a hole in the last. */
  #payOwed(): void {
    if (this.#owed === 0) return;
    const room = this.#segment?.room ?? 0;
    if (this.#segment !== undefined && room > 0)
      this.#lose(this.#segment, Math.min(this.#owed, room));
    if (this.#owed === 0) return;
    const end = this.#tail + this.#owed;
    const start = end - (end % this.#setting.segmentBytes);
    const last = this.#roll(start);
    this.#passOver(start);
    this.#lose(last, end - start);
  }

  #lose(segment: SegmentWriter, count: number): void {
    segment.lose(count);
    this.#passOver(this.#tail + count);
  }

  #passOver(to: number): void {
    this.#owed -= to - this.#tail;
    this.#tail = to;
  }

  #restore(): void {
    const gone = this.#segment;
    if (gone === undefined || gone.isPresent()) return;
    const { start, position } = gone;
    this.#replacements += 1;
    this.#retention.forget();
    this.#segment = new SegmentWriter(this.#setting, { ...fresh(start), position });
    gone[Symbol.dispose]();
    // Whoever still holds the old bytes must find an end there and look again, not see new bytes under an old index.
    unlinkIfThere(this.#setting.io, segmentPath(this.#setting.dir, start));
    this.#segment.open();
  }
}

function fresh(start: number): SegmentPlace {
  return { start, position: 0, slots: 0, made: false };
}

/** Continues where the last life stopped even if the wall clock was set back meanwhile. */
function logTime(clock: Clock, epoch: number, last: number): () => number {
  const base = Math.max(last, clock.now() - epoch) - clock.monotonic();
  return () => Math.floor(base + clock.monotonic());
}
