import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { reinsPath } from "./temp-host.ts";

const root = dirname(dirname(reinsPath));
const built = ["bin", "scripts", "src", "web", "package.json", "package-lock.json", "LICENSE"];
const projects = ["tsconfig.json", "tsconfig.client.json", "tsconfig.embedded.json"];

/** The bundle as an installed package has it; the checkout's own dist/ stays as it is. Answers its `bin/reins`. */
export function layOutPackage(dir: string): string {
  const copy = join(dir, "copy");
  for (const name of [...built, ...projects]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  execFileSync(process.execPath, [join(copy, "scripts", "build.mjs")], { stdio: "pipe" });
  const installed = join(dir, "node_modules", "reins");
  for (const name of ["bin", "dist", "package.json"]) {
    cpSync(join(copy, name), join(installed, name), { recursive: true });
  }
  mkdirSync(join(dir, "node_modules"), { recursive: true });
  symlinkSync(join(root, "node_modules", "koffi"), join(dir, "node_modules", "koffi"));
  return join(installed, "bin", "reins");
}
