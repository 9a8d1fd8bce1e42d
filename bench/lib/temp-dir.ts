import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { owned } from "./owned.ts";

export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

/** A new directory, gone with everything in it on dispose. Its path is short enough for a socket inside. */
export function openTempDir(): TempDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "reins-bench-")));
  return { path, ...owned(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 })) };
}
