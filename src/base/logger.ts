import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { messageOf } from "./errno.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Constant message, fields apart. */
export interface Logger {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** One file of this size and the one before it. */
const LOG_FILE_BYTES = 4 * 1024 * 1024;
const LOOK_EVERY_BYTES = 64 * 1024;

export const silentLogger: Logger = { info: ignore, warn: ignore, error: ignore };

/** JSON lines in a 0600 file that is rotated once it is full. Never throws: a log must not end what it tells about. */
export function openFileLogger(path: string, now: () => number): Logger & Disposable {
  const file = new LogFile(path);
  const write = (level: string, message: string, fields: Fields = {}) => {
    const at = new Date(now()).toISOString();
    try {
      file.append(`${toLine({ at, level, message }, fields)}\n`);
    } catch {
      // A full or missing disk: there is nowhere left to say so.
    }
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    [Symbol.dispose]: () => file.close(),
  };
}

/** Held open, because a line may be written for every request; looked at again now and then. */
class LogFile {
  readonly #path: string;
  #fd: number | undefined;
  #written = 0;

  constructor(path: string) {
    this.#path = path;
  }

  append(line: string): void {
    if (this.#fd === undefined || this.#written >= LOOK_EVERY_BYTES) this.#look();
    if (this.#fd !== undefined) this.#written += writeSync(this.#fd, line);
  }

  close(): void {
    const fd = this.#fd;
    // Forgotten first: after a close that fails the number may be somebody else's.
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  /** Others may write to it, rotate it or remove it: then we go on with the new one. */
  #look(): void {
    this.close();
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (size >= LOG_FILE_BYTES) renameSync(this.#path, `${this.#path}.1`);
    this.#fd = openSync(this.#path, "a", 0o600);
    this.#written = 0;
  }
}

/** What cannot be JSON, such as a circle, takes its fields away and not the line. */
function toLine(head: Fields, fields: Fields): string {
  try {
    return JSON.stringify({ ...head, ...printable(fields) });
  } catch (error) {
    return JSON.stringify({ ...head, fields: `not printable: ${messageOf(error)}` });
  }
}

function printable(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Error ? (value.stack ?? value.message) : value,
  ]);
  return Object.fromEntries(entries);
}

function ignore(): void {
  // A logger for those who want none.
}
