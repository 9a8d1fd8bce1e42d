import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempDir extends Disposable {
  readonly path: string;
}

/** A directory of a test's own that goes with it. */
export function openTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), "reins-log-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
