import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFileTools } from "#test/harness/file-tools.ts";
import { findFile, replaceFile, withPlace } from "./file-content.ts";
import { createFileScope } from "./file-scope.ts";

interface EditInput {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

/** What stands in a file after the edits, and what the model heard. */
async function edit(content: string | Buffer, ...edits: EditInput[]) {
  using files = openFileTools();
  const path = join(files.work, "f");
  writeFileSync(path, content);
  const outcome = await files.call("edit_file", { path: "f", edits });
  expect(readdirSync(files.work)).toEqual(["f"]);
  return { text: readFileSync(path, "utf8"), ...outcome };
}

test("a new file is written with the folders above it", async () => {
  using files = openFileTools();
  const outcome = await files.call("write_file", { path: "a/b/c.txt", content: "ä\n" });
  expect(outcome).toEqual({ output: "wrote a/b/c.txt, a new file of 3 bytes" });
  expect(readFileSync(join(files.work, "a/b/c.txt"), "utf8")).toBe("ä\n");
  expect(statSync(join(files.work, "a/b/c.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(readdirSync(join(files.work, "a/b"))).toEqual(["c.txt"]);
});

test("a file that is replaced keeps its mode, its line ends and its byte order mark", async () => {
  using files = openFileTools();
  const path = join(files.work, "f");
  writeFileSync(path, "\uFEFFa\r\nb\r\n");
  chmodSync(path, 0o751);
  const { output } = await files.call("write_file", { path: "f", content: "x\ny\n" });
  expect(readFileSync(path, "utf8")).toBe("\uFEFFx\r\ny\r\n");
  expect(statSync(path).mode & 0o7777).toBe(0o751);
  expect(output).toBe("wrote f, 9 bytes instead of 9; it keeps its line ends and byte order mark");
});

test("a binary file may be replaced by a text, and mixed line ends are left as they are said", async () => {
  using files = openFileTools();
  const path = join(files.work, "f");
  writeFileSync(path, Buffer.from([0, 1, 2]));
  await files.call("write_file", { path: "f", content: "x\r\ny\n" });
  expect(readFileSync(path, "utf8")).toBe("x\r\ny\n");
  await files.call("write_file", { path: "f", content: "z\n" });
  expect(readFileSync(path, "utf8")).toBe("z\n");
});

test.each([
  ["a folder", "dir", /dir is a directory/],
  ["the work dir", ".", /is a directory/],
  ["below a file", "file/x", /is not a directory, or something above it is none/],
])("%s cannot be written", async (_what, path, text) => {
  using files = openFileTools();
  mkdirSync(join(files.work, "dir"));
  writeFileSync(join(files.work, "file"), "kept");
  const outcome = await files.call("write_file", { path, content: "x" });
  expect(outcome).toMatchObject({ is_error: true, output: expect.stringMatching(text) });
  expect(readFileSync(join(files.work, "file"), "utf8")).toBe("kept");
  expect(readdirSync(files.work)).toEqual(["dir", "file"]);
});

test("half a character is not written", async () => {
  using files = openFileTools();
  const outcome = await files.call("write_file", { path: "f", content: "a\uD83D" });
  expect(outcome.output).toMatch(/^invalid_request: content: half a character/);
  expect((await edit("x", { old: "x", new: "\uDE00" })).output).toMatch(/edits\.0\.new: half/);
});

test("edits are made in order, each on what the ones before have made", async () => {
  const done = await edit("one two", { old: "one", new: "two-" }, { old: "two-", new: "three" });
  expect(done).toEqual({ text: "three two", output: "edited f: 2 places" });
});

test("a text that is found once is replaced as it is said, without patterns", async () => {
  const { text } = await edit("a.c $& abc", { old: "a.c", new: "$1$&$$" });
  expect(text).toBe("$1$&$$ $& abc");
});

test("a text that is there several times is refused with its lines, or replaced with all", async () => {
  const content = "x\ny\nx\nx";
  const refused = await edit(content, { old: "x", new: "z" });
  expect(refused).toMatchObject({ is_error: true, text: content });
  expect(refused.output).toContain("edits.0.old was found at 3 places, lines 1, 3, 4;");
  const done = await edit(content, { old: "x", new: "zz", all: true });
  expect(done).toEqual({ text: "zz\ny\nzz\nzz", output: "edited f: 3 places" });
});

test("one edit that does not fit undoes all of them", async () => {
  const done = await edit("a b", { old: "a", new: "A" }, { old: "missing", new: "x" });
  expect(done).toMatchObject({ is_error: true, text: "a b" });
  expect(done.output).toContain("edits.1.old was not found (0 places); nothing was changed");
});

test.each([
  [{ old: "", new: "x" }, /edits\.0\.old is empty/],
  [{ old: "a", new: "a" }, /old and new are the same/],
])("an edit of %j says what is wrong", async (wrong, text) => {
  const done = await edit("a", wrong);
  expect(done).toMatchObject({ is_error: true, text: "a", output: expect.stringMatching(text) });
});

test("line feeds of a model mean the line ends of the file", async () => {
  const crlf = await edit("a\r\nb\r\nc\r\n", { old: "a\nb", new: "x\ny\nz" });
  expect(crlf.text).toBe("x\r\ny\r\nz\r\nc\r\n");
  const mixed = await edit("a\r\nb\nc\n", { old: "b\nc", new: "x\ny" });
  expect(mixed.text).toBe("a\r\nx\ny\n");
  const other = await edit("a\r\nb\nc\r\nd", { old: "c\nd", new: "x\ny" });
  expect(other.text).toBe("a\r\nb\nx\r\ny");
  const first = await edit("\uFEFFa\n", { old: "a", new: "b" });
  expect(first.text).toBe("\uFEFFb\n");
});

test("what is no text is not edited", async () => {
  const bytes = Buffer.from([0x61, 0xff]);
  expect((await edit(bytes, { old: "a", new: "b" })).output).toMatch(/it is no UTF-8 text/);
});

test("a missing file is not edited", async () => {
  using files = openFileTools();
  const edits = [{ old: "a", new: "b" }];
  const { output } = await files.call("edit_file", { path: "no/f", edits });
  expect(output).toMatch(/no\/f does not exist/);
  expect((await files.call("edit_file", { path: "f", edits })).output).toMatch(/write_file makes/);
  expect(readdirSync(files.work)).toEqual([]);
});

test("what somebody else wrote in between is not overwritten", () => {
  using files = openFileTools();
  const path = join(files.work, "f");
  writeFileSync(path, "old");
  const scope = createFileScope({ work_dir: files.work, allow_paths: [], home: "/" });
  const work = () =>
    withPlace(scope, { path: "f", make: false }, (place) => {
      const found = findFile(place, "f");
      writeFileSync(path, "theirs");
      replaceFile(place, "ours", { path: "f", old: found?.stats });
    });
  expect(work).toThrow("f was changed by somebody else meanwhile");
  expect(readFileSync(path, "utf8")).toBe("theirs");
  expect(readdirSync(files.work)).toEqual(["f"]);
});

test("a file that somebody else made in between is not overwritten", () => {
  using files = openFileTools();
  const scope = createFileScope({ work_dir: files.work, allow_paths: [], home: "/" });
  const work = () =>
    withPlace(scope, { path: "f", make: true }, (place) => {
      writeFileSync(join(files.work, "f"), "theirs");
      replaceFile(place, "ours", { path: "f", old: undefined });
    });
  expect(work).toThrow("f was changed by somebody else meanwhile");
  expect(readFileSync(join(files.work, "f"), "utf8")).toBe("theirs");
});

test("with read_only there are no tools that write", async () => {
  using files = openFileTools({ read_only: true });
  expect(files.names).toEqual(["read_file", "list_directory", "glob", "search_files"]);
  const outcome = await files.call("write_file", { path: "f", content: "x" });
  expect(outcome).toMatchObject({ is_error: true });
  expect(lstatSync(join(files.work, "f"), { throwIfNoEntry: false })).toBeUndefined();
});
