import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const MAX_BYTES = 512 * 1024 * 1024;

/** Builds the bundle of a released commit below `dir` and returns its `bin/reins`. Needs the history of the repository. */
export function layOutReleased(dir: string, commit: string): string {
  const source = join(dir, "source");
  mkdirSync(source);
  const archive = execFileSync("git", ["-C", root, "archive", commit], { maxBuffer: MAX_BYTES });
  execFileSync("tar", ["-x", "-C", source], { input: archive });
  symlinkSync(join(root, "node_modules"), join(source, "node_modules"));
  const script = join(source, "scripts", "lay-out-package.mjs");
  const installed = join(dir, "installed");
  return execFileSync(process.execPath, [script, installed], { encoding: "utf8" }).trim();
}
