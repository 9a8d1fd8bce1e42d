import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type FileTools, openFileTools } from "#test/harness/file-tools.ts";
import { createToolContext } from "#test/harness/tool-context.ts";
import { createBoundedPattern } from "./bounded-pattern.ts";
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
])("the glob %s matches %j and not %j", (glob, yes, no) => {
  const pattern = parseGlob(glob);
  expect([...yes, ...no].filter((path) => pattern.test(path))).toEqual(yes);
});

test.each(["{a", "a}", "./", "[!]", "[z-a]", "x".repeat(501)])("the glob %s is refused", (glob) => {
  expect(() => parseGlob(glob)).toThrow(/^pattern: /);
});

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

test("a pattern that would take for ever is ended", { timeout: 30_000 }, async () => {
  using files = openFileTools();
  fill(files, { f: `${"a".repeat(5000)}!\n`, ["a".repeat(200)]: "" });
  const search = await files.call("search_files", { pattern: "^(a+)+$" });
  expect(search.output).toBe("invalid_request: pattern: it takes too long; write a simpler one");
  const glob = await files.call("glob", { pattern: `${"*a".repeat(30)}*b` });
  expect(glob.output).toBe("invalid_request: pattern: it takes too long; write a simpler one");
});

test("a pattern that is rather slow each time is ended after a while, a decent one never", () => {
  let ms = 0;
  // Each look at the clock is this much later than the one before.
  const after = (step: number) =>
    createBoundedPattern(/x/, () => {
      ms += step;
      return ms;
    });
  const slow = after(450);
  for (let looks = 0; looks < 8; looks += 1) expect(slow.find(["x", "y"])).toEqual([0]);
  expect(() => slow.find(["x"])).toThrow("pattern: it takes too long");
  const decent = after(50);
  for (let looks = 0; looks < 200; looks += 1) expect(decent.find(["y", "x"])).toEqual([1]);
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
