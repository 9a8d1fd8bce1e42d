import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../scripts/lay-out-package.mjs", import.meta.url));

/** The bundle as an installed package has it; the checkout's own dist/ stays as it is. Answers its `bin/reins`. */
export function layOutPackage(dir: string): string {
  return execFileSync(process.execPath, [program, dir], { encoding: "utf8" }).trim();
}
