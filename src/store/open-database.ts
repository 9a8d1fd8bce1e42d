import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from "node:fs";
import { isErrno, messageOf } from "#base/errno.ts";
import { Fault, findScarcity } from "#contract/fault.ts";
import { Database } from "./database.ts";
import { migrations } from "./migrations.ts";

/** How long a migration waits for others to leave; one that serves does not. */
const ALONE_MS = 2000;
const TRY_MS = 40;
/** Kept nowhere: for a server that ends with what it serves. */
export const IN_MEMORY = ":memory:";

/**
 * Opens the file and brings it to our version. A newer one is refused untouched. An older one is migrated while
 * nobody else has it open: a process that still runs the older code must not find a schema it does not know.
 */
export function openDatabase(path: string, steps: readonly string[] = migrations): Database {
  if (path === IN_MEMORY) return createInMemory(steps);
  makePrivate(path);
  const found = readVersion(path);
  refuseNewer(path, found, steps.length);
  if (found > 0 && found < steps.length) migrateAlone(path, steps);
  const database = new Database(path);
  try {
    writeAhead(database);
    database.execute("PRAGMA synchronous = NORMAL");
    // Two first starters meet here; the second finds it done.
    if (versionOf(database) === 0) migrate(database, steps);
    // Somebody newer may have been faster.
    refuseNewer(path, versionOf(database), steps.length);
    return database;
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}

function createInMemory(steps: readonly string[]): Database {
  const database = new Database(IN_MEMORY);
  migrate(database, steps);
  return database;
}

/**
 * Made by us first, so that it has our mode and not the umask's; SQLite gives its side files the same. A file that is
 * there is never opened here: closing it would free the locks that another connection of this process has on it.
 */
function makePrivate(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) createEmpty(path);
    if (statSync(path).isDirectory()) throw new Error("there is a folder in its place");
    accessSync(path, constants.R_OK | constants.W_OK);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
    }
  } catch (error) {
    const code = findScarcity(error)?.code ?? "internal";
    throw new Fault(code, `${path} cannot be used as the database: ${sentenceFor(error)}`, {
      details: { path },
      cause: error,
    });
  }
}

function createEmpty(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Another starter was first.
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

function sentenceFor(error: unknown): string {
  if (isErrno(error, "ENOENT", "ENOTDIR")) return "its folder does not exist";
  if (isErrno(error, "EACCES", "EPERM")) return "it may not be written to";
  if (isErrno(error, "EROFS")) return "it is on a read-only file system";
  return findScarcity(error)?.message ?? messageOf(error);
}

/** By a connection that cannot write: closing one that can may move pages from the write-ahead log into the file. */
function readVersion(path: string): number {
  if (statSync(path).size === 0) return 0;
  using database = new Database(path, { readOnly: true });
  return versionOf(database);
}

function refuseNewer(path: string, version: number, known: number): void {
  if (version <= known) return;
  throw new Fault(
    "unsupported",
    `${path} was written by a newer Reins (version ${version}); this one knows version ${known} and leaves it untouched`,
    { details: { path, version, known } },
  );
}

/**
 * `conflict` while a process of the older version has the file open; nothing to do where another starter was first.
 * Starters that meet keep each other from being alone, so each leaves the file for a moment of its own between tries.
 */
export function migrateAlone(path: string, steps: readonly string[]): void {
  const until = performance.now() + ALONE_MS;
  for (;;) {
    const busy = tryAlone(path, steps);
    // What the other one has open may be of our version by now.
    if (busy === undefined || readVersion(path) >= steps.length) return;
    if (performance.now() >= until) throw stillUsed(path, steps.length, busy);
    sleep(TRY_MS + (process.pid % TRY_MS));
  }
}

/** What kept us from being alone, if something did. */
function tryAlone(path: string, steps: readonly string[]): Fault | undefined {
  using database = new Database(path, { busyMs: TRY_MS });
  try {
    // In this mode the first look at the file fails as long as any other process has it open.
    database.execute("PRAGMA locking_mode = EXCLUSIVE");
    migrate(database, steps);
    return undefined;
  } catch (error) {
    if (error instanceof Fault && error.code === "busy") return error;
    throw error;
  }
}

function stillUsed(path: string, known: number, cause: Fault): Fault {
  return new Fault(
    "conflict",
    `${path} must be brought to version ${known}, and another process still uses it as it is; stop the older reins first`,
    { details: { path, known }, cause },
  );
}

/** Nothing else can go on before the file is open. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function migrate(database: Database, steps: readonly string[]): void {
  database.transaction(() => {
    const version = versionOf(database);
    if (version >= steps.length) return;
    for (const step of steps.slice(version)) database.execute(step);
    database.execute(`PRAGMA user_version = ${steps.length}`);
  }, "EXCLUSIVE");
}

function versionOf(database: Database): number {
  return database.number("PRAGMA user_version");
}

/**
 * The mode stays with the file. Asked first, because setting it needs the file for oneself. Starters that meet here are
 * refused at once, without the wait that other statements have, so each tries until another one has set it.
 */
function writeAhead(database: Database): void {
  const until = performance.now() + ALONE_MS;
  while (!isWriteAhead(database)) {
    try {
      database.execute("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof Fault && error.code === "busy";
      if (!isBusy || performance.now() >= until) throw error;
    }
    sleep(1 + (process.pid % TRY_MS));
  }
}

function isWriteAhead(database: Database): boolean {
  return JSON.stringify(database.first("PRAGMA journal_mode")).includes("wal");
}
