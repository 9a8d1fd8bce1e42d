import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { messageOf } from "#base/errno.ts";
import { Fault, findScarcity } from "#contract/fault.ts";

/** How long a statement waits for another process that writes. A write takes well under a millisecond. */
const BUSY_MS = 5000;

const READS = /^(?:SELECT|PRAGMA)\b/;

export type Parameters = Readonly<Record<string, SQLInputValue>>;

/** One connection. What SQLite refuses becomes a fault with a sentence, in this one place. */
export class Database implements Disposable {
  readonly #path: string;
  readonly #connection: DatabaseSync;
  /** The texts are constants of this layer with a few optional filters, so there are some dozens of them. */
  readonly #statements = new Map<string, StatementSync>();
  #ownChanges = 0;

  constructor(
    path: string,
    {
      readOnly = false,
      busyMs = BUSY_MS,
    }: { readonly readOnly?: boolean; readonly busyMs?: number } = {},
  ) {
    this.#path = path;
    this.#connection = this.#guard(() => new DatabaseSync(path, { readOnly, timeout: busyMs }));
  }

  /** Statements without values, for pragmas and migrations. */
  execute(sql: string): void {
    this.#ownChanges += 1;
    this.#guard(() => this.#connection.exec(sql));
  }

  /** How many rows it changed. */
  run(sql: string, parameters: Parameters = {}): number {
    this.#ownChanges += 1;
    return this.#guard(() => Number(this.#prepare(sql).run(parameters).changes));
  }

  all(sql: string, parameters: Parameters = {}): readonly unknown[] {
    // A change may answer with its rows.
    if (!READS.test(sql)) this.#ownChanges += 1;
    return this.#guard(() => this.#prepare(sql).all(parameters));
  }

  first(sql: string, parameters: Parameters = {}): unknown {
    // Not `get`: what a RETURNING clause changes is committed when the statement has run to its end.
    return this.all(sql, parameters)[0];
  }

  /** For statements that answer one number. */
  number(sql: string, parameters: Parameters = {}): number {
    const row = this.first(sql, parameters);
    return typeof row === "object" && row !== null ? Number(Object.values(row)[0]) : 0;
  }

  /** Another one than before when anything may have changed since: by us, or committed by another connection. */
  revision(): string {
    return `${this.#ownChanges} ${this.number("PRAGMA data_version")}`;
  }

  /** All or nothing. Takes the right to write at once, so that what is read inside stays true until the end. */
  transaction<T>(work: () => T, begin: "IMMEDIATE" | "EXCLUSIVE" = "IMMEDIATE"): T {
    if (this.#connection.isTransaction) return work();
    this.execute(`BEGIN ${begin}`);
    try {
      const result = work();
      this.execute("COMMIT");
      return result;
    } catch (error) {
      // A full disk may have ended it already.
      if (this.#connection.isTransaction) this.execute("ROLLBACK");
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#connection.isOpen) this.#connection.close();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreFault(error, this.#path);
    }
  }
}

const SQLITE = {
  busy: 5,
  locked: 6,
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  open: 14,
  notDatabase: 26,
} as const;

/** SQLITE_IOERR_SHMSIZE: the file beside the write-ahead log could not be made larger. */
const SHARED_MEMORY_SIZE = 10 | (19 << 8);

function asStoreFault(error: unknown, path: string): unknown {
  const options = { details: { path }, cause: error };
  // The low byte is the kind, the rest says more about it.
  switch (sqliteCode(error) & 0xff) {
    case SQLITE.busy:
    case SQLITE.locked:
      return new Fault("busy", `another process keeps ${path} locked`, options);
    case SQLITE.full:
      return new Fault("disk_full", `there is no room left on the disk for ${path}`, options);
    case SQLITE.readonly:
      return new Fault("internal", `${path} may not be written to`, options);
    case SQLITE.open:
    case SQLITE.io:
      return asFileFault(error, path);
    case SQLITE.corrupt:
    case SQLITE.notDatabase:
      return new Fault(
        "internal",
        `${path} is damaged or is not a database; move it away to start with a fresh one`,
        options,
      );
    default:
      return error;
  }
}

/** SQLite does not say why a file could not be opened or grown. */
function asFileFault(error: unknown, path: string): Fault {
  const options = { details: { path }, cause: error };
  const code = sqliteCode(error);
  if (code === SHARED_MEMORY_SIZE)
    return new Fault("disk_full", `there is no room left on the disk for ${path}`, options);
  const lack = code === SQLITE.open ? findLackOfDescriptors() : undefined;
  if (lack !== undefined)
    return new Fault(lack.code, `${path} cannot be used: ${lack.message}`, options);
  return new Fault("internal", `${path} cannot be used: ${messageOf(error)}`, options);
}

/** Of another file: to close the database's own would free the locks that are on it. */
function findLackOfDescriptors(): Fault | undefined {
  try {
    closeSync(openSync("/dev/null", "r"));
    return undefined;
  } catch (error) {
    return findScarcity(error);
  }
}

function sqliteCode(error: unknown): number {
  if (!(error instanceof Error) || !("errcode" in error)) return 0;
  return typeof error.errcode === "number" ? error.errcode : 0;
}
