// `node scripts/lay-out-package.mjs DIR`: Reins in DIR as it lies there when it is installed, but without types and
// without a copy of what it depends on. Prints the path of its `bin/reins`.
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./build-program.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** What cannot be bundled. */
const NATIVE = ["koffi", "@lydell/node-pty"];

const [dir] = process.argv.slice(2);
if (dir === undefined) throw new Error("into which directory?");
const modules = join(resolve(dir), "node_modules");
const installed = join(modules, "reins");
await buildProgram(join(installed, "dist"));
for (const name of ["bin", "examples", "package.json", "dist/web"])
  if (existsSync(join(root, name)))
    cpSync(join(root, name), join(installed, name), { recursive: true });
for (const name of NATIVE) {
  const path = join(modules, name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}
process.stdout.write(`${join(installed, "bin", "reins")}\n`);
