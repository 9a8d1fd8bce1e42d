import type { Logger } from "#base/logger.ts";
import { type SessionRecord, writeRecord } from "./session-record.ts";
import { type Happening, transition } from "./transition.ts";

/** A session's record in memory and on disk. Memory is right at once; the disk follows when it can. */
export class RecordKeeper {
  readonly #dir: string;
  readonly #log: Logger;
  #record: SessionRecord;

  constructor({
    dir,
    log,
    record,
  }: { readonly dir: string; readonly log: Logger; readonly record: SessionRecord }) {
    this.#dir = dir;
    this.#log = log;
    this.#record = record;
  }

  get current(): SessionRecord {
    return this.#record;
  }

  /** Throws when it cannot be written: before the child is started that is a reason not to start it. */
  writeFirst(): void {
    writeRecord(this.#dir, this.#record);
  }

  update(change: Partial<SessionRecord>): void {
    this.#record = { ...this.#record, ...change };
    this.write();
  }

  happen(happening: Happening): void {
    const state = transition(this.#record.state, happening);
    if (state !== this.#record.state) this.update({ state });
  }

  write(): void {
    try {
      writeRecord(this.#dir, this.#record);
    } catch (error) {
      // A full disk or a removed directory: the next change tries again.
      this.#log.warn("session.json could not be written", {
        session_id: this.#record.session_id,
        error,
      });
    }
  }
}
