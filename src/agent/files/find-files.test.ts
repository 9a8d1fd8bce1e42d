import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type FileTools, openFileTools } from "#test/harness/file-tools.ts";
import { createToolContext } from "#test/harness/tool-context.ts";
import { parseGlob } from "./glob-pattern.ts";

function fill({ work }: FileTools, content: Readonly<Record<string, string | Buffer>>) {
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  }
}

test.each([
  ["*.ts", ["a.ts", "src/b.ts", "src/deep/c.ts"], ["a.tsx", "ats"]],
  ["src/*.ts", ["src/b.ts"], ["src/deep/c.ts", "a.ts"]],
  ["src/**/*.ts", ["src/b.ts", "src/deep/c.ts"], ["a.ts", "src/x.js"]],
  ["**/*.ts", ["a.ts", "src/b.ts"], ["a.js"]],
  ["src/**", ["src/b.ts", "src/deep/c.ts"], ["a.ts"]],
  ["./a.?s", ["a.ts", "a.js"], ["a.tss", "b.ts"]],
  ["{a,src/b}.{ts,js}", ["a.ts", "src/b.js"], ["b.ts"]],
  ["[ab].ts", ["a.ts", "x/b.ts"], ["c.ts"]],
  ["[!a-c].ts", ["d.ts"], ["a.ts", "/.ts"]],
  ["a,b", ["a,b"], ["a"]],
  ["a(b)+$", ["a(b)+$"], ["abb"]],
  ["\\*", ["*"], ["a"]],
  ["[+-9].ts", ["0.ts", "-.ts"], ["x.ts"]],
  ["a[+-9]b", ["a.b", "a0b"], ["a/b"]],
])("the glob %s matches %j and not %j", async (glob, yes, no) => {
  const pattern = await parseGlob(glob);
  expect([...yes, ...no].filter((path) => pattern.test(path))).toEqual(yes);
});

test.each(["{a", "a}", "./", "[!]", "[z-a]", "x".repeat(501)])(
  "the glob %s is refused",
  async (glob) => {
    await expect(parseGlob(glob)).rejects.toThrow(/^pattern: /);
  },
);

test("a directory is listed with sizes, folders and links, and an empty one says so", async () => {
  using files = openFileTools();
  expect((await files.call("list_directory")).output).toBe("[the directory is empty]");
  fill(files, { "b.txt": "12345", "a/x": "" });
  symlinkSync("/nowhere", join(files.work, "c"));
  expect((await files.call("list_directory")).output).toBe("a/\nb.txt (5 bytes)\nc -> /nowhere");
  expect((await files.call("list_directory", { path: "b.txt" })).output).toMatch(
    /b.txt is not a directory/,
  );
});

test("a long directory is cut and says how much is missing", async () => {
  using files = openFileTools();
  for (let index = 0; index < 1003; index += 1) writeFileSync(join(files.work, `f${index}`), "");
  expect((await files.call("list_directory")).output).toMatch(/\n\[and 3 more\]$/);
  const { output } = await files.call("glob", { pattern: "*" });
  expect(output.split("\n")).toHaveLength(1001);
  expect(output).toMatch(/\[more than 1000; narrow the pattern\]$/);
});

test("glob finds files and folders below, but not in node_modules and .git", async () => {
  using files = openFileTools();
  fill(files, {
    "a.ts": "",
    "src/b.ts": "",
    "src/lib.ts/x": "",
    "node_modules/c.ts": "",
    "src/.git/d.ts": "",
  });
  symlinkSync(files.work, join(files.work, "loop"));
  const { output } = await files.call("glob", { pattern: "*.ts" });
  expect(output).toBe("a.ts\nsrc/b.ts\nsrc/lib.ts/");
  const below = await files.call("glob", { pattern: "*.ts", path: "node_modules" });
  expect(below.output).toBe("node_modules/c.ts");
  expect((await files.call("glob", { pattern: "*.md" })).output).toBe("nothing matches *.md");
});

test("a search tells path, line and text", async () => {
  using files = openFileTools();
  fill(files, {
    "a.txt": "one\r\nTwo\r\nthree",
    "b/c.md": "x\ntwo ä\n",
    bin: Buffer.from("two\0two"),
    "node_modules/d": "two",
  });
  symlinkSync("a.txt", join(files.work, "link"));
  const search = async (input: Record<string, unknown>) =>
    (await files.call("search_files", input)).output;
  expect(await search({ pattern: "two" })).toBe("b/c.md:2: two ä");
  expect(await search({ pattern: "TWO$", ignore_case: true })).toBe("a.txt:2: Two");
  expect(await search({ pattern: "^t", path: "a.txt" })).toBe("a.txt:3: three");
  expect(await search({ pattern: "o", glob: "*.md" })).toBe("b/c.md:2: two ä");
  expect(await search({ pattern: "o", glob: "b/*", path: "b" })).toBe("no line matches o");
  expect(await search({ pattern: "\\p{L}{4}" })).toBe("a.txt:3: three");
  expect(await search({ pattern: "a{,2}b" })).toBe("no line matches a{,2}b");
  expect(await search({ pattern: "(" })).toMatch(/^invalid_request: pattern: /);
});

test("a search is bounded in matches, in the length of lines and in the size of files", async () => {
  using files = openFileTools();
  fill(files, {
    "a/long": `${"x".repeat(5000)}\n`,
    "a/large": Buffer.alloc(4 * 1024 * 1024 + 1, "x"),
  });
  const { output } = await files.call("search_files", { pattern: "x" });
  expect(output).toMatch(
    /^a\/long:1: x{300} \[cut\]\n\[1 files were too large or could not be read\]$/,
  );
  fill(
    files,
    Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`b/${n}`, "y\n".repeat(60)])),
  );
  const many = (await files.call("search_files", { pattern: "y", path: "b" })).output.split("\n");
  expect(many).toHaveLength(201);
  expect(many[50]).toBe("b/0: and 10 more lines");
  expect(many[200]).toBe("[more than 200 matches; narrow the search]");
});

test("patterns that would take a backtracking engine forever are answered", async () => {
  using files = openFileTools();
  fill(files, { f: `${"a".repeat(5000)}!\n`, ["a".repeat(200)]: "" });
  const deep = Array.from({ length: 20 }, (_, level) => `d${level}`).join("/");
  fill(files, { [`${deep}/file.ts`]: "", [`${"aaa/".repeat(20)}b`]: "" });
  const search = await files.call("search_files", { pattern: "^(a+)+$" });
  expect(search.output).toBe("no line matches ^(a+)+$");
  const many = `${"*a".repeat(30)}*b`;
  expect((await files.call("glob", { pattern: many })).output).toBe(`nothing matches ${many}`);
  const none = `${"**/".repeat(12)}none.ts`;
  expect((await files.call("glob", { pattern: none })).output).toBe(`nothing matches ${none}`);
  // picomatch takes 13 s for this one.
  const folders = `${"**/*a*a*/".repeat(6)}c`;
  expect((await files.call("glob", { pattern: folders })).output).toBe(
    `nothing matches ${folders}`,
  );
  const found = await files.call("glob", { pattern: `${"**/".repeat(12)}file.ts` });
  expect(found.output).toBe(`${deep}/file.ts`);
});

test.each([
  ["(?=a)b", /^invalid_request: pattern: \(\?= \(look-ahead\) is not supported/],
  ["(a)\\1", /^invalid_request: pattern: \\1 \(a back-reference\) is not supported/],
])("a pattern with %s is refused by the name of what it uses", async (pattern, sentence) => {
  using files = openFileTools();
  fill(files, { f: "b\n" });
  expect((await files.call("search_files", { pattern })).output).toMatch(sentence);
});

test("an interrupted search ends", async () => {
  using files = openFileTools();
  for (let index = 0; index < 20; index += 1) writeFileSync(join(files.work, `f${index}`), "x");
  const context = createToolContext();
  const searching = files.call("search_files", { pattern: "y" }, context);
  context.interrupt();
  expect(await searching).toMatchObject({
    is_error: true,
    output: expect.stringMatching(/^interrupted/),
  });
});
