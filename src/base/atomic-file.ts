import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { randomId } from "./random-id.ts";

/**
 * Replaces a file as a whole: a reader meets the old content or the new one, never half of it.
 * Survives the death of any process; not flushed to the disk itself, see docs/adr/0003-session-log.md.
 */
export function writeFileAtomic(path: string, content: string, mode = 0o600): void {
  // Not by the process's number: in a container the next one has the same, and this name may be left of the last.
  const temporary = `${path}.${randomId("t")}.tmp`;
  try {
    const fd = openSync(temporary, "wx", mode);
    try {
      writeAll(fd, Buffer.from(content));
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}
