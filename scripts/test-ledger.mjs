// `npm run test:ledger`: no claim gets lost while tests are moved, merged and renamed.
//
// test/ledger/titles.txt holds the titles of every test of an older commit. Each of them must be in `npm test`, in
// `npm run soak`, or in test/ledger/merged.tsv. Prints the missing ones and exits with 1 when there are any.
//
//   npm run test:ledger             compares titles; parses the files without running them, takes seconds
//   npm run test:ledger -- --rows   also counts the rows of each table (test.each); loads every test file
//   npm run test:ledger -- --save   writes titles.txt from this checkout; only for a new baseline
//
// A line of merged.tsv has four columns, separated by tabs:
//
//   old file   old title   new file   new title     the claim is now part of that test, which must exist
//   old file   old title   -          reason        the claim has gone, and why
//
// A test that moved to another file with its title needs no line. `describe` and `test` are joined by " > ". A table
// is one title with its placeholders (%s, $name); its number of rows follows in titles.txt behind a tab.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const titlesPath = join(root, "test/ledger/titles.txt");
const mergedPath = join(root, "test/ledger/merged.tsv");
/** The projects of vitest.config.ts that `npm test` runs; `npm run soak` runs the others. */
const TEST_PROJECTS = new Set(["unit", "e2e"]);
/** The ways to make a test. Vitest's parser also takes methods of a variable that is called `test`, and `x.test(y)`. */
const MAKES_TEST = /^(?:["'`(<]|test\(|test\.(?:each|for|concurrent)\b)/;
/** Vitest's parser leaves these out; they are listed without the names of their `describe`. */
const CONDITIONAL_TEST = /\btest\.(?:runIf|skipIf)\([^)]*\)\(\s*"((?:[^"\\]|\\.)+)"/g;
/** A placeholder of a table's title. */
const PLACEHOLDER = /%(?:\.\d+)?[sdifjo#%$]|\$\{[^}]*\}|\$[\w.]+/g;

const { values } = parseArgs({ options: { save: { type: "boolean" }, rows: { type: "boolean" } } });
const now = listTitles();
if (values.save === true) save();
else compare();

/** File and title → the projects that have it. */
function listTitles() {
  const found = new Map();
  const add = (file, name, project) => {
    const key = keyOf(relative(root, file), name);
    if (!found.has(key)) found.set(key, new Set());
    found.get(key).add(project);
  };
  const lines = new Map();
  for (const { file, projectName } of listTests("--filesOnly")) {
    const source = readFileSync(file, "utf8");
    lines.set(file, source.split("\n"));
    for (const [, title] of source.matchAll(CONDITIONAL_TEST)) add(file, title, projectName);
  }
  for (const { file, name, projectName, location } of listTests()) {
    const line = lines.get(file)?.[location.line - 1] ?? "";
    if (MAKES_TEST.test(line.slice(location.column - 1))) add(file, name, projectName);
  }
  return found;
}

function listTests(...options) {
  const dir = mkdtempSync(join(tmpdir(), "ledger-"));
  const path = join(dir, "tests.json");
  const args = ["list", `--json=${path}`, ...options];
  // With every row of the tables that are shorter in `npm test`.
  const env = { ...process.env, RT_REPEATS: "full" };
  execFileSync(join(root, "node_modules/.bin/vitest"), args, { cwd: root, env, stdio: "ignore" });
  const tests = JSON.parse(readFileSync(path, "utf8"));
  rmSync(dir, { recursive: true });
  return tests;
}

function save() {
  const rows = countRows(now);
  const byFile = Map.groupBy(now.keys(), (key) => partsOf(key).file);
  const lines = [...byFile].toSorted().flatMap(([file, keys]) => [
    file,
    ...keys.map((key) => {
      const count = rows.get(key) ?? 0;
      return `\t${partsOf(key).title}${count > 1 ? `\t${count}` : ""}`;
    }),
  ]);
  writeFileSync(titlesPath, `${lines.join("\n")}\n`);
  process.stdout.write(`${now.size} titles saved\n`);
}

function compare() {
  const before = readSaved();
  const merged = readMerged();
  const kept = findKept(before);
  const missing = [...before.keys()].filter((key) => !kept.has(key) && !merged.has(key));
  const problems = [
    ...missing.map((key) => `missing: ${sayKey(key)}`),
    ...[...merged].flatMap(([key, to]) => problemsOf(before, key, to)),
    ...(values.rows === true ? missingRows(before, kept) : []),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  const inTest = [...kept.values()].filter((key) => isInTest(now.get(key))).length;
  process.stdout.write(
    `${before.size} titles: ${inTest} in npm test, ${kept.size - inTest} in npm run soak, ` +
      `${before.size - kept.size - missing.length} merged or renamed, ${missing.length} missing\n`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** Which test of today has the title of an older one: in the same file, or in another if it was the only one. */
function findKept(before) {
  const keysBefore = Map.groupBy(before.keys(), (key) => partsOf(key).title);
  const keysNow = Map.groupBy(now.keys(), (key) => partsOf(key).title);
  const kept = new Map();
  for (const key of before.keys()) {
    const { title } = partsOf(key);
    const moved = keysBefore.get(title)?.length === 1 ? keysNow.get(title)?.[0] : undefined;
    const found = now.has(key) ? key : moved;
    if (found !== undefined) kept.set(key, found);
  }
  return kept;
}

function isInTest(projects) {
  return [...projects].some((project) => TEST_PROJECTS.has(project));
}

function problemsOf(before, key, { file, title }) {
  if (!before.has(key)) return [`merged.tsv: no such old title: ${sayKey(key)}`];
  if (file === "-" || now.has(keyOf(file, title))) return [];
  return [`merged.tsv: no such new title: ${file} > ${title}`];
}

/** A table that has fewer rows than it had needs a line in merged.tsv as well. */
function missingRows(before, kept) {
  const merged = readMerged();
  const rows = countRows(now);
  return [...kept].flatMap(([key, found]) => {
    const [had, has] = [before.get(key), rows.get(found) ?? 1];
    return has >= had || merged.has(key) ? [] : [`${sayKey(key)}: ${has} of ${had} rows are left`];
  });
}

/** By the tests that the files make when they are loaded: each belongs to the title that fits it most closely. */
function countRows(titles) {
  const byFile = Map.groupBy(titles.keys(), (key) => partsOf(key).file);
  const patterns = new Map([...titles.keys()].map((key) => [key, patternOf(partsOf(key).title)]));
  const rows = new Map();
  for (const { file, name, projectName } of listTests("--no-static-parse")) {
    const path = relative(root, file);
    // A file of several projects counts once.
    const [project] = titles.get(byFile.get(path)?.[0]) ?? [];
    if (projectName !== project) continue;
    const fitting = (byFile.get(path) ?? []).filter((key) => patterns.get(key).test(name));
    const key = fitting.toSorted((a, b) => fixedLength(b) - fixedLength(a))[0];
    if (key === undefined) process.stdout.write(`no title fits: ${path} > ${name}\n`);
    else rows.set(key, (rows.get(key) ?? 0) + 1);
  }
  return rows;
}

/** With or without the names of its `describe`. */
function patternOf(title) {
  const fixed = title.split(PLACEHOLDER).map((part) => RegExp.escape(part));
  return new RegExp(`^(?:.* > )?${fixed.join(".*")}$`, "s");
}

function fixedLength(key) {
  return partsOf(key).title.replaceAll(PLACEHOLDER, "").length;
}

/** File and title → its number of rows. */
function readSaved() {
  const saved = new Map();
  let file = "";
  for (const line of readFileSync(titlesPath, "utf8").trimEnd().split("\n")) {
    if (!line.startsWith("\t")) file = line;
    else {
      const [title = "", rows = "1"] = line.slice(1).split("\t");
      saved.set(keyOf(file, title), Number(rows));
    }
  }
  return saved;
}

function readMerged() {
  const lines = readFileSync(mergedPath, "utf8").split("\n");
  return new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const [oldFile, oldTitle, file, title, ...rest] = line.split("\t");
        if (title === undefined || rest.length > 0)
          throw new Error(`merged.tsv: four columns are needed: ${line}`);
        return [keyOf(oldFile, oldTitle), { file, title }];
      }),
  );
}

function keyOf(file, title) {
  return `${file}\t${title.replaceAll(/\s+/g, " ")}`;
}

function partsOf(key) {
  const at = key.indexOf("\t");
  return { file: key.slice(0, at), title: key.slice(at + 1) };
}

function sayKey(key) {
  const { file, title } = partsOf(key);
  return `${file} > ${title}`;
}
