import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isErrno, messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";

const SQLITE_BUSY = 5;

/**
 * One host a data directory. SQLite's exclusive transaction is a lock that the kernel frees however the holder
 * dies; Node itself has no flock.
 */
export function openLock(path: string): Disposable {
  makePrivate(path);
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw refusal(path, error);
  }
  return { [Symbol.dispose]: () => database.isOpen && database.close() };
}

/**
 * Made by us first, so that it has our mode and not the umask's. One that is there is not even opened: the kernel drops
 * all locks that a process has on a file as soon as it closes any descriptor of it.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

function refusal(path: string, error: unknown): Fault {
  const isBusy = error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
  const details = { lock: path };
  if (isBusy)
    return new Fault("conflict", "another host already serves this data directory", {
      details,
      cause: error,
    });
  return new Fault(
    "host_unavailable",
    `${path} cannot be locked: ${messageOf(error)}; if it is damaged it can be removed while no host runs`,
    { details, cause: error },
  );
}
