import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { channels, type OutputChannel } from "#contract/channels.ts";
import type { SessionEvent } from "#contract/events.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { openLogFiles } from "#log/log-files.ts";
import type { LogIo } from "#log/log-io.ts";
import { type LogWriter, openLogWriter } from "#log/log-writer.ts";

/** Bytes that stand right before the tail. Only for the moment: the buffer is its reader's. */
export interface Printed {
  readonly channel: number;
  readonly bytes: Buffer;
}

export interface SessionLogsDeps {
  readonly dir: string;
  readonly clock: Clock;
  readonly retainBytes: number;
  readonly io?: LogIo | undefined;
  /** An agent's events come often and are its history; the others' are a handful in a lifetime. */
  readonly isAgent: boolean;
  /** A tail moved; with what moved it when that was printed and all of it is kept. */
  readonly moved: (printed?: Printed) => void;
  /** The bytes right before the tail of an agent's events. */
  readonly noted: (bytes: Buffer) => void;
  /** The files had been removed and were made anew. */
  readonly restored: () => void;
}

/** How often a log that could not be written is tried again. */
const RETRY_MS = 1000;
/** How often a log is looked after: what is printed between its removal and the next look is lost. */
const LOOK_MS = 100;
/** Facts that wait for room on the disk; beyond this the oldest are dropped, but for one of which half is written. */
const WAITING_EVENTS = 100;
const LINE_END = Buffer.from("\n");

/** The two logs of a session: what it printed, and what happened to it. */
export class SessionLogs implements Disposable {
  readonly #deps: SessionLogsDeps;
  readonly #output: LogWriter;
  readonly #events: LogWriter;
  #waiting: Buffer[] = [];
  /** The caller holds the rest of lines that were not kept whole. */
  #isHeld = false;
  #retry: Disposable | undefined;
  #lookedAt: number;

  constructor(deps: SessionLogsDeps) {
    this.#deps = deps;
    const { clock, dir } = deps;
    const io = defined({ io: deps.io });
    this.#output = openLogWriter({
      dir: join(dir, "output"),
      clock,
      ...io,
      retainBytes: deps.retainBytes,
    });
    this.#events = openLogWriter({
      dir: join(dir, "events"),
      clock,
      ...io,
      limitBytes: limits.events_bytes,
      holdOpen: deps.isAgent,
    });
    if (endsWithinLine(join(dir, "events"), this.#events.tail)) this.#waiting.push(LINE_END);
    this.#lookedAt = clock.monotonic();
  }

  get tail(): number {
    return this.#output.tail;
  }

  get first(): number {
    return this.#output.first;
  }

  get eventsTail(): number {
    return this.#events.tail;
  }

  /** Where the line of the next fact begins. */
  get nextEvent(): number {
    const waiting = this.#waiting.reduce((bytes, line) => bytes + line.length, 0);
    return this.#events.tail + waiting;
  }

  get diskBytes(): number {
    return this.#output.diskBytes + this.#events.diskBytes;
  }

  get lostBytes(): number {
    return this.#output.lostBytes;
  }

  get fault(): { readonly code: string; readonly message: string } | undefined {
    return this.#output.fault ?? this.#events.fault;
  }

  /** A terminal or command goes on when the disk is full: what does not fit becomes a gap. */
  appendOutput(channel: OutputChannel, bytes: Buffer): void {
    this.#lookSometimes();
    const kept = this.#output.append(channels[channel], bytes);
    if (kept < bytes.length) {
      this.#output.skip(bytes.length - kept);
      this.#retryLater();
      this.#deps.moved();
      return;
    }
    this.#deps.moved({ channel: channels[channel], bytes });
  }

  /** How many of the bytes of whole event lines are kept; the rest is the caller's to hold and to try again. */
  appendLines(lines: Buffer): number {
    if (!this.#isHeld && !this.#flushWaiting()) return 0;
    const kept = this.#appendEvents(lines);
    this.#isHeld = kept < lines.length && this.#events.fault?.code !== "limit";
    if (!this.#isHeld) this.#flushWaiting();
    if (kept > 0) this.#deps.moved();
    return kept;
  }

  appendEvent(event: SessionEvent): void {
    this.#waiting.push(Buffer.from(`${JSON.stringify(event)}\n`));
    if (this.#waiting.length > WAITING_EVENTS) this.#waiting.splice(1, 1);
    if (this.#flushWaiting()) this.#deps.moved();
    else this.#retryLater();
  }

  markSize(cols: number, rows: number): void {
    this.#output.mark("resize", cols, rows);
  }

  /** Tries to write what is owed: the mark of a lost range, facts that had no room. True when nothing is. */
  settle(): boolean {
    this.#look(this.#deps.clock.monotonic());
    const isSettled = this.#output.settle() && this.#flushWaiting();
    this.#deps.moved();
    return isSettled;
  }

  /** All that was printed counts from now on, also what found no room. */
  concede(): void {
    this.#output.concede();
    this.#deps.moved();
  }

  /** False while somebody holds the rest of lines: what comes behind them waits for that alone. */
  get canSettle(): boolean {
    return !this.#isHeld;
  }

  [Symbol.dispose](): void {
    this.#retry?.[Symbol.dispose]();
    this.#output[Symbol.dispose]();
    this.#events[Symbol.dispose]();
  }

  #flushWaiting(): boolean {
    // What is written may end in the middle of a line whose rest comes first.
    if (this.#isHeld) return false;
    for (let head = this.#waiting[0]; head !== undefined; head = this.#waiting[0]) {
      const kept = this.#appendEvents(head);
      if (kept < head.length) {
        // At its limit the log takes nothing more, and waiting for it would be for ever.
        if (this.#events.fault?.code === "limit") this.#waiting = [];
        else this.#waiting[0] = head.subarray(kept);
        return this.#waiting.length === 0;
      }
      this.#waiting.shift();
    }
    return true;
  }

  #appendEvents(lines: Buffer): number {
    const kept = this.#events.append(channels.events, lines);
    if (kept > 0 && this.#deps.isAgent) this.#deps.noted(lines.subarray(0, kept));
    return kept;
  }

  #retryLater(): void {
    this.#retry ??= this.#deps.clock.timer(RETRY_MS, () => {
      this.#retry = undefined;
      if (!this.settle()) this.#retryLater();
    });
  }

  #lookSometimes(): void {
    const now = this.#deps.clock.monotonic();
    if (now - this.#lookedAt >= LOOK_MS) this.#look(now);
  }

  #look(now: number): void {
    this.#lookedAt = now;
    const wasRemoved = this.#output.ensurePresent();
    if (this.#events.ensurePresent() || wasRemoved) this.#deps.restored();
  }
}

/** A worker's last line that found no room is half there: what comes next must not be glued to it. */
function endsWithinLine(dir: string, tail: number): boolean {
  if (tail === 0) return false;
  using files = openLogFiles(dir);
  const last = files.read(tail - 1, { limit: 1, tail });
  return last?.kind === "bytes" && last.bytes[0] !== LINE_END[0];
}
