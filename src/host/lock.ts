import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "#contract/fault.ts";

/**
 * One host a data directory. SQLite's exclusive transaction is a lock that the kernel frees however the holder
 * dies; Node itself has no flock.
 */
export function openLock(path: string): Disposable {
  // Made by us first, so that it has our mode and not the umask's.
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw new Fault("conflict", "another host already serves this data directory", {
      details: { lock: path },
      cause: error,
    });
  }
  return { [Symbol.dispose]: () => database.isOpen && database.close() };
}
