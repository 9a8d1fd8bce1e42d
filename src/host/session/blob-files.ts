import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";

/** Files beside a session's logs, each named by the hash of its bytes. */
export interface BlobFiles {
  keep(bytes: Uint8Array): string;
  /** Undefined when it is gone. */
  find(name: string): Buffer | undefined;
}

export function createBlobFiles(sessionDir: string): BlobFiles {
  const folder = join(sessionDir, "blobs");
  return {
    keep: (bytes) => {
      const name = nameBlob(bytes);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      try {
        writeFileSync(join(folder, name), bytes, { mode: 0o600, flag: "wx" });
      } catch (error) {
        // The same bytes were kept before.
        if (!isErrno(error, "EEXIST")) throw error;
      }
      return name;
    },
    find: (name) => {
      try {
        return readFileSync(join(folder, name));
      } catch (error) {
        if (isErrno(error, "ENOENT")) return undefined;
        throw error;
      }
    },
  };
}

export function nameBlob(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
