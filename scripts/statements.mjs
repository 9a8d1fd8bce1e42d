// `npm run statements [-- COMMIT]`: how many statements src and web have, without tests; with a commit, compared to it.
// Statements, because lines change with formatting and comments. A declaration, a member of a class and an expression
// that is the body of an arrow function each count as one.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseSync } from "vite";

const SOURCES = /^(?:src|web)\/.*\.tsx?$/;
const TESTS = /\.test\.tsx?$|\.contract\.ts$|^src\/[^/]+\/(?:fixtures|testing)\/|\.d\.ts$/;
const MAX_BYTES = 256 * 1024 * 1024;
const git = (...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: MAX_BYTES });

const COUNTED = /(?:Statement|Declaration)$|^(?:PropertyDefinition|MethodDefinition)$/;

function count(node) {
  if (node === null || typeof node !== "object") return 0;
  if (Array.isArray(node)) return node.reduce((sum, child) => sum + count(child), 0);
  const isCounted = COUNTED.test(node.type ?? "") && node.type !== "BlockStatement";
  const isBody = node.type === "ArrowFunctionExpression" && node.expression === true;
  let sum = (isCounted ? 1 : 0) + (isBody ? 1 : 0);
  for (const child of Object.values(node)) if (typeof child === "object") sum += count(child);
  return sum;
}

function countAll(files, read) {
  const folders = new Map();
  for (const file of files.filter((name) => SOURCES.test(name) && !TESTS.test(name))) {
    const folder = file.startsWith("web/") ? "web" : file.split("/").slice(0, 2).join("/");
    const { program } = parseSync(file, read(file));
    folders.set(folder, (folders.get(folder) ?? 0) + count(program));
  }
  return folders;
}

const total = (folders) => [...folders.values()].reduce((sum, statements) => sum + statements, 0);
const list = (...args) =>
  git(...args)
    .trim()
    .split("\n");
const [commit] = process.argv.slice(2);
const now = countAll(list("ls-files"), (file) => readFileSync(file, "utf8"));
const before =
  commit === undefined
    ? undefined
    : countAll(list("ls-tree", "-r", "--name-only", commit), (file) =>
        git("show", `${commit}:${file}`),
      );
const names = [...new Set([...now.keys(), ...(before?.keys() ?? [])])].sort();
for (const name of names) {
  const was = before === undefined ? "" : `  was ${before.get(name) ?? 0}`;
  process.stdout.write(`${name.padEnd(14)} ${String(now.get(name) ?? 0).padStart(6)}${was}\n`);
}
const share =
  before === undefined
    ? ""
    : `  was ${total(before)}, ${((total(now) / total(before) - 1) * 100).toFixed(1)} %`;
process.stdout.write(`${"all".padEnd(14)} ${String(total(now)).padStart(6)}${share}\n`);
