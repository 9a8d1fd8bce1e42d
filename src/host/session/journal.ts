import type { Clock } from "#base/clock.ts";
import type { OutputChannel } from "#contract/channels.ts";
import type { SessionEvent } from "#contract/events.ts";
import type { LogIo } from "#log/log-io.ts";
import { OutputLine } from "./output-line.ts";
import type { RecordKeeper } from "./record-keeper.ts";
import { type Printed, SessionLogs } from "./session-logs.ts";

export interface JournalDeps {
  readonly dir: string;
  readonly clock: Clock;
  readonly keeper: RecordKeeper;
  readonly retainBytes: number;
  readonly io: LogIo | undefined;
  /** A tail moved, perhaps by this. */
  readonly moved: (printed?: Printed) => void;
  /** The bytes right before the tail of an agent's events. */
  readonly noted: (bytes: Buffer) => void;
}

/** An event without what every event has. */
export type EventBody = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, "at" | "session_id">
    : never
  : never;

/** How far a session's logs go, and whether they can be written. */
export interface JournalState {
  readonly tail: number;
  readonly first_offset: number;
  readonly events_tail: number;
  readonly disk_bytes: number;
  readonly lost_bytes: number;
  readonly last_line?: string | undefined;
}

/** How often a log that is to be closed and still owed something is tried again. */
const CLOSE_AGAIN_MS = 1000;

const REMOVED = "the log's files were removed while it was written; what was in them is a gap";

/** A session's logs while they can still grow; afterwards the record knows how far they went. */
export class Journal {
  readonly #deps: JournalDeps;
  #logs: SessionLogs | undefined;
  /** Before these logs were opened. */
  #lostBefore = 0;
  #closing: Disposable | undefined;
  readonly #line = new OutputLine();

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  get state(): JournalState {
    if (this.#logs === undefined) {
      const { tail, first_offset, events_tail, disk_bytes, lost_bytes, last_line } =
        this.#deps.keeper.current;
      return { tail, first_offset, events_tail, disk_bytes, lost_bytes, last_line };
    }
    const { tail, first, eventsTail, diskBytes, lostBytes } = this.#logs;
    return {
      tail,
      first_offset: first,
      events_tail: eventsTail,
      disk_bytes: diskBytes,
      lost_bytes: this.#lostBefore + lostBytes,
      last_line: this.#line.line ?? this.#deps.keeper.current.last_line ?? "",
    };
  }

  get tail(): number {
    return this.#logs?.tail ?? this.#deps.keeper.current.tail;
  }

  get eventsTail(): number {
    return this.#logs?.eventsTail ?? this.#deps.keeper.current.events_tail;
  }

  get fault(): { readonly code: string; readonly message: string } | undefined {
    return this.#logs?.fault;
  }

  /** Somebody writes; not while it only waits for room to write its last. */
  get isOpen(): boolean {
    return this.#logs !== undefined && this.#closing === undefined;
  }

  open(): void {
    const { dir, clock, keeper, retainBytes, io, moved, noted } = this.#deps;
    this.#stopClosing();
    if (this.#logs === undefined) this.#lostBefore = keeper.current.lost_bytes;
    this.#logs ??= new SessionLogs({
      dir,
      clock,
      retainBytes,
      io,
      isAgent: keeper.current.kind === "agent",
      moved,
      noted,
      restored: () => {
        keeper.write();
        this.note({ type: "warning", code: "internal", message: REMOVED });
      },
    });
  }

  /** True when it is closed by this; where something is owed to the disk it is closed later, when there is room. */
  close(): boolean {
    this.#stopClosing();
    if (this.#logs === undefined) return false;
    if (this.#logs.settle() || !this.#logs.canSettle) return this.abandon();
    this.#closing = this.#deps.clock.timer(CLOSE_AGAIN_MS, () => {
      if (this.close()) this.#deps.moved();
    });
    return false;
  }

  /** Closes now, whatever is owed. False when it was closed already. */
  abandon(): boolean {
    this.#stopClosing();
    if (this.#logs === undefined) return false;
    const { state } = this;
    this.#logs[Symbol.dispose]();
    this.#logs = undefined;
    this.#deps.keeper.update(state);
    return true;
  }

  #stopClosing(): void {
    this.#closing?.[Symbol.dispose]();
    this.#closing = undefined;
  }

  appendOutput(channel: OutputChannel, bytes: Buffer): void {
    this.#logs?.appendOutput(channel, bytes);
    if (this.#deps.keeper.current.kind !== "agent") this.#line.push(bytes);
  }

  /** How many of the bytes are kept. */
  appendLines(lines: Buffer): number {
    return this.#logs?.appendLines(lines) ?? lines.length;
  }

  markSize(cols: number, rows: number): void {
    this.#logs?.markSize(cols, rows);
  }

  /** True when nothing is owed to the disk. */
  settle(): boolean {
    return this.#logs?.settle() ?? true;
  }

  /** The output has an end now: what found no room is a gap before it, also while the disk stays full. */
  concede(): void {
    this.#logs?.concede();
  }

  /** Where the next event's line begins. */
  get nextEvent(): number {
    return this.#logs?.nextEvent ?? this.eventsTail;
  }

  note(event: EventBody): void {
    const { clock, keeper } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    // The spread of a union keeps each member's own fields.
    this.#logs?.appendEvent({
      ...event,
      at,
      session_id: keeper.current.session_id,
    } as SessionEvent);
  }
}
