import { appendFileSync, renameSync, statSync } from "node:fs";

type Fields = Readonly<Record<string, unknown>>;

/** Constant message, fields apart. */
export interface Logger {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** One file of this size and the one before it. */
const LOG_FILE_BYTES = 4 * 1024 * 1024;

export const silentLogger: Logger = { info: ignore, warn: ignore, error: ignore };

/** JSON lines in a 0600 file that is rotated once it is full. Never throws: a log must not end what it tells about. */
export function createFileLogger(path: string, now: () => number): Logger {
  const write = (level: string, message: string, fields: Fields = {}) => {
    const line = JSON.stringify({
      at: new Date(now()).toISOString(),
      level,
      message,
      ...printable(fields),
    });
    try {
      rotate(path);
      appendFileSync(path, `${line}\n`, { mode: 0o600 });
    } catch {
      // A full or missing disk: there is nowhere left to say so.
    }
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
  };
}

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= LOG_FILE_BYTES) renameSync(path, `${path}.1`);
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
