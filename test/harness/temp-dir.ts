import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempDir extends Disposable {
  readonly path: string;
}

/** A new directory, gone with everything in it on dispose. Its path is short enough for a socket inside. */
export function openTempDir(): TempDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "t-")));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
