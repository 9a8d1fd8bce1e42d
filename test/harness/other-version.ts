import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTempDir } from "./temp-dir.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface OtherVersion extends Disposable {
  /** How to run its `reins`. */
  readonly command: readonly string[];
}

export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** This program under another version, with a few lines of it changed: a copy that runs by itself. */
export function openOtherVersion(version: string, edits: readonly Edit[] = []): OtherVersion {
  using stack = new DisposableStack();
  const { path } = stack.use(openTempDir());
  for (const name of ["bin", "src"])
    cpSync(join(root, name), join(path, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(path, "package.json"), JSON.stringify({ ...manifest, version }));
  for (const edit of edits) apply(path, edit);
  const owned = stack.move();
  return {
    command: [process.execPath, join(path, "bin", "reins")],
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function apply(path: string, { file, from, to }: Edit): void {
  const text = readFileSync(join(path, file), "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  writeFileSync(join(path, file), text.replace(from, to));
}
