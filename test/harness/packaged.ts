import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openTempDir } from "./temp-dir.ts";

const NAME = "RT_BIN";
const program = fileURLToPath(new URL("../../scripts/lay-out-package.mjs", import.meta.url));

/** End-to-end tests run Reins as people install it, which also starts in half the time. Made once for the whole run. */
export function setup(): () => void {
  const dir = openTempDir();
  const printed = execFileSync(process.execPath, [program, dir.path], { encoding: "utf8" });
  process.env[NAME] = printed.trim();
  return () => dir[Symbol.dispose]();
}

/** The `bin/reins` to run: where nothing was laid out, that of the checkout. */
export const binPath =
  process.env[NAME] ?? fileURLToPath(new URL("../../bin/reins", import.meta.url));
