// Prints which commit mended which finding, and which test shows it, from the trailers of commit messages:
//
//   Mends: H1, H9
//   Test: test/e2e/cli-nested.test.ts > attach refuses the session that it runs in
//
//   npm run mends                       a table of everything that was mended
//   npm run mends -- --want F1,F2       exits 1 when one of these is missing
//
// Exits 1 when a test that a commit names is not there any more.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { want: { type: "string", default: "" } } });

const rows = readCommits().flatMap(({ commit, items, tests }) =>
  items.map((item) => ({ item, commit, tests })),
);
rows.sort((a, b) => a.item.localeCompare(b.item, "en", { numeric: true }));

process.stdout.write("| item | commit | test |\n|---|---|---|\n");
for (const { item, commit, tests } of rows)
  process.stdout.write(`| ${item} | ${commit} | ${tests.map(describeTest).join("<br>")} |\n`);

const mended = new Set(rows.map(({ item }) => item));
const problems = [
  ...split(values.want)
    .filter((item) => !mended.has(item))
    .map((item) => `${item}: no commit names it`),
  ...[...mended]
    .filter((item) => rows.every((row) => row.item !== item || row.tests.length === 0))
    .map((item) => `${item}: no commit names a test`),
  ...rows.flatMap(({ item, tests }) =>
    tests.filter((test) => !isThere(test)).map((test) => `${item}: missing test: ${test}`),
  ),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`\n${mended.size} items mended, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function readCommits() {
  const format =
    "%h%x1f%(trailers:key=Mends,valueonly,separator=%x2C)%x1f%(trailers:key=Test,valueonly,unfold,separator=%x1e)%x1d";
  const log = execFileSync("git", ["log", "--reverse", `--format=${format}`], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return log.split("\x1d").flatMap((record) => {
    const [commit = "", items = "", tests = ""] = record.trim().split("\x1f");
    if (items === "") return [];
    return [
      {
        commit,
        items: split(items),
        tests: tests
          .split("\x1e")
          .map((test) => test.trim())
          .filter((test) => test !== ""),
      },
    ];
  });
}

function split(list) {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The file may have another place or name since. */
function isThere(test) {
  const [path = "", title = ""] = test.split(" > ").map((part) => part.trim());
  if (title === "")
    return globSync(`{src,web,test,bench}/**/${basename(path)}`, { cwd: root }).length > 0;
  const files = globSync("{src,web,test,bench}/**/*.test.ts", { cwd: root });
  return [path, ...files].some(
    (file) =>
      existsSync(`${root}/${file}`) &&
      containsWords(readFileSync(`${root}/${file}`, "utf8"), title),
  );
}

/** The title may be a row of a table, whose values the source does not hold. */
function containsWords(source, title) {
  if (source.includes(title) || source.includes(title.replaceAll('"', '\\"'))) return true;
  const templates = [
    ...source.matchAll(
      /\b(?:test|it)[^(]*\([\s\S]{0,4000}?["'`]([^"'`\n]*(?:%[sdijo]|\$\{?\w)[^"'`\n]*)["'`]/g,
    ),
  ];
  return templates.some(([, template]) => {
    const parts = template.split(/%[sdijo]|\$\{[^}]*\}|\$\w+/).map((part) => part.trim());
    return parts.every((part) => title.includes(part));
  });
}

function describeTest(test) {
  const [path, ...title] = test.split(" > ");
  return title.length === 0 ? `\`${path}\`` : `\`${path}\`: ${title.join(" > ")}`;
}
