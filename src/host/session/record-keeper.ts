import { existsSync } from "node:fs";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { type SessionRecord, writeRecord } from "./session-record.ts";
import { type Happening, transition } from "./transition.ts";

const SOON_MS = 50;
/** How often a record that could not be written is tried again: the last change has no next one that would. */
const RETRY_MS = 1000;

/** A session's record in memory and on disk. Memory is right at once; the disk follows when it can. */
export class RecordKeeper {
  readonly #dir: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  #record: SessionRecord;
  #soon: Disposable | undefined;

  constructor({
    dir,
    log,
    clock,
    record,
  }: {
    readonly dir: string;
    readonly log: Logger;
    readonly clock: Clock;
    readonly record: SessionRecord;
  }) {
    this.#dir = dir;
    this.#clock = clock;
    this.#log = log;
    this.#record = record;
  }

  get current(): SessionRecord {
    return this.#record;
  }

  /** Throws when it cannot be written: before the child is started that is a reason not to start it. */
  writeFirst(change: Partial<SessionRecord> = {}): void {
    this.#record = { ...this.#record, ...change };
    writeRecord(this.#dir, this.#record);
  }

  /** The same for another life, which is not there before the disk has it. */
  writeRevival(change: Partial<SessionRecord>): void {
    const state = transition(this.#record.state, { kind: "revived" });
    const record = { ...this.#record, ...change, state };
    writeRecord(this.#dir, record);
    this.#record = record;
  }

  update(change: Partial<SessionRecord>): void {
    this.#record = { ...this.#record, ...change };
    this.write();
  }

  /** In memory alone; the disk has it with the next change. */
  remember(change: Partial<SessionRecord>): void {
    this.#record = { ...this.#record, ...change };
  }

  /** Within this time. */
  writeSoon(ms: number): void {
    this.#soon ??= this.#clock.timer(ms, () => this.write());
  }

  /** With what is known since: one write for both, because a short command costs little more than its writes. */
  happen(happening: Happening, change: Partial<SessionRecord> = {}): void {
    const state = transition(this.#record.state, happening);
    const isChange = state !== this.#record.state || Object.keys(change).length > 0;
    if (isChange) this.update({ ...change, state });
  }

  /**
   * The same, on disk a moment later or with the next change: a short command is over by then. When the host dies
   * meanwhile, the next one finds the processes by their marks, which the first record holds already.
   */
  happenSoon(happening: Happening, change: Partial<SessionRecord>): void {
    const state = transition(this.#record.state, happening);
    this.#record = { ...this.#record, ...change, state };
    this.writeSoon(SOON_MS);
  }

  /** What was to be written soon is written now. */
  flush(): void {
    if (this.#soon !== undefined) this.write();
  }

  /** The disk has what memory has. */
  get isWritten(): boolean {
    return this.#soon === undefined;
  }

  write(): void {
    this.#soon?.[Symbol.dispose]();
    this.#soon = undefined;
    try {
      writeRecord(this.#dir, this.#record);
    } catch (error) {
      // A full disk or no descriptors: there may be room in a moment. Without its directory the session has been removed.
      if (existsSync(this.#dir)) this.#soon = this.#clock.timer(RETRY_MS, () => this.write());
      this.#log.warn("session.json could not be written", {
        session_id: this.#record.session_id,
        error,
      });
    }
  }
}
