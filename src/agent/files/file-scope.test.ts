import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { type FileTools, openFileTools } from "#test/harness/file-tools.ts";
import { withPlace } from "./file-content.ts";
import { createFileScope, openPlace } from "./file-scope.ts";

function scopeOf({ work, outside }: FileTools) {
  return createFileScope({ work_dir: work, allow_paths: [], home: outside });
}

const everyTool = [
  ["read_file", {}],
  ["write_file", { content: "x" }],
  ["edit_file", { edits: [{ old: "secret", new: "x" }] }],
] as const;

test.each(everyTool)("%s stays inside, whatever the path looks like", async (tool, input) => {
  using files = openFileTools();
  const secret = join(files.outside, "secret");
  writeFileSync(secret, "secret");
  symlinkSync(files.outside, join(files.work, "folder"));
  symlinkSync(secret, join(files.work, "file"));
  symlinkSync("file", join(files.work, "twice"));
  mkdirSync(join(files.work, "deep"));
  symlinkSync("../..", join(files.work, "deep", "up"));
  const paths = [
    secret,
    "../outside/secret",
    "deep/../../outside/secret",
    "folder/secret",
    "file",
    "twice",
    "deep/up/outside/secret",
    "~/secret",
    "./folder/../folder/secret",
    `${files.work}-not/../outside/secret`,
  ];
  for (const path of paths) {
    const outcome = await files.call(tool, { ...input, path });
    expect(outcome, path).toMatchObject({
      is_error: true,
      output: expect.stringMatching(/^forbidden: .* is outside of /),
    });
  }
  expect(readFileSync(secret, "utf8")).toBe("secret");
  expect(readdirSync(files.outside)).toEqual(["secret"]);
});

test.each([
  ["list_directory", {}],
  ["glob", { pattern: "*" }],
  ["search_files", { pattern: "." }],
])("%s looks at nothing outside", async (tool, input) => {
  using files = openFileTools();
  writeFileSync(join(files.outside, "secret"), "secret");
  symlinkSync(files.outside, join(files.work, "link"));
  for (const path of ["..", files.outside, "link", "/"])
    expect(await files.call(tool, { ...input, path }), path).toMatchObject({
      is_error: true,
      output: expect.stringMatching(/^forbidden: /),
    });
  expect((await files.call(tool, input)).output).not.toContain("secret");
});

test("a folder whose name begins like the work dir is outside", async () => {
  using files = openFileTools();
  mkdirSync(`${files.work}2`);
  writeFileSync(`${files.work}2/x`, "x");
  const outcome = await files.call("read_file", { path: `${files.work}2/x` });
  expect(outcome.output).toMatch(/^forbidden: /);
});

test("nothing is written through a link to nothing", async () => {
  using files = openFileTools();
  symlinkSync(join(files.outside, "made"), join(files.work, "link"));
  const outcome = await files.call("write_file", { path: "link", content: "x" });
  expect(outcome.output).toMatch(/^forbidden: .* is a link to something that does not exist/);
  expect(existsSync(join(files.outside, "made"))).toBe(false);
});

test("links inside lead where they lead, and what was there stays a link", async () => {
  using files = openFileTools();
  mkdirSync(join(files.work, "a"));
  writeFileSync(join(files.work, "a", "real"), "old");
  symlinkSync("a/real", join(files.work, "link"));
  await files.call("write_file", { path: "link", content: "new" });
  expect(readFileSync(join(files.work, "a", "real"), "utf8")).toBe("new");
  expect(readdirSync(files.work)).toEqual(["a", "link"]);
  expect((await files.call("list_directory")).output).toBe("a/\nlink -> a/real");
});

test("folders and single files besides the work dir can be allowed", async () => {
  using other = openFileTools();
  writeFileSync(join(other.work, "inside"), "allowed");
  writeFileSync(join(other.outside, "one"), "allowed");
  writeFileSync(join(other.outside, "two"), "secret");
  const allow_paths = [other.work, join(other.outside, "one")];
  using files = openFileTools({ allow_paths });
  const read = (path: string) => files.call("read_file", { path });
  expect(await read(join(other.work, "inside"))).toEqual({ output: "allowed" });
  expect(await read(join(other.outside, "one"))).toEqual({ output: "allowed" });
  expect((await read(join(other.outside, "two"))).output).toMatch(/^forbidden: /);
  const content = "changed";
  await files.call("write_file", { path: join(other.outside, "one"), content });
  expect(await read(join(other.outside, "one"))).toEqual({ output: "changed" });
});

test("a folder that becomes a link after the check is not followed", () => {
  using files = openFileTools();
  const scope = scopeOf(files);
  mkdirSync(join(files.work, "a", "b"), { recursive: true });
  mkdirSync(join(files.outside, "b"));
  writeFileSync(join(files.outside, "b", "secret"), "secret");
  const last = scope.locate("a/b");
  renameSync(join(files.work, "a"), join(files.work, "moved"));
  symlinkSync(files.outside, join(files.work, "a"));
  expect(() => scope.openFolder(last, "a/b")).toThrow("a/b was moved outside");
  rmSync(join(files.work, "a"));
  mkdirSync(join(files.work, "a"));
  symlinkSync(join(files.outside, "b"), join(files.work, "a", "b"));
  expect(() => scope.openFolder(last, "a/b")).toThrow(/not a directory|cannot be followed/);
});

test("what is done in a folder that was opened stays there when its path becomes a link", () => {
  using files = openFileTools();
  const scope = scopeOf(files);
  mkdirSync(join(files.work, "a"));
  writeFileSync(join(files.work, "a", "file"), "inside");
  writeFileSync(join(files.outside, "file"), "secret");
  const place = openPlace(scope, "a/file");
  using folder = place.folder;
  renameSync(join(files.work, "a"), join(files.work, "moved"));
  symlinkSync(files.outside, join(files.work, "a"));
  expect(readFileSync(folder.at("file"), "utf8")).toBe("inside");
  using made = folder.make("new");
  writeFileSync(made.at("x"), "x");
  expect(readdirSync(files.outside)).toEqual(["file"]);
  expect(readdirSync(join(files.work, "moved")).sort()).toEqual(["file", "new"]);
});

test("a file that becomes a link after the check is not followed", () => {
  using files = openFileTools();
  const scope = scopeOf(files);
  const path = join(files.work, "file");
  writeFileSync(path, "inside");
  writeFileSync(join(files.outside, "secret"), "secret");
  withPlace(scope, { path: "file", make: false }, ({ folder, name }) => {
    rmSync(path);
    symlinkSync(join(files.outside, "secret"), path);
    expect(() => folder.openFile(name, "file")).toThrow("file leads through a link");
    expect(() => folder.enter(name)).toThrow(/not a directory|leads through a link/);
  });
});

test("a folder that is swapped for a link all the time never lets anything out", {
  timeout: 30_000,
}, async () => {
  using files = openFileTools();
  mkdirSync(join(files.work, "a"));
  writeFileSync(join(files.work, "a", "file"), "inside");
  writeFileSync(join(files.outside, "file"), "secret");
  // A folder that a write has made in between is in the way, and goes.
  const swap = "mv -T a b; ln -sT ../outside a; rm -rf a; mv -T b a";
  // A shell with a trap waits for the program that it runs, which would move things while they are removed.
  const swapper = spawn("bash", ["-c", `trap exit TERM; while :; do ${swap}; done`], {
    cwd: files.work,
    stdio: "ignore",
  });
  const exited = once(swapper, "exit");
  try {
    const outcomes = new Set<string>();
    for (let index = 0; index < 200; index += 1) {
      const { output } = await files.call("read_file", { path: "a/file" });
      outcomes.add(output);
      await files.call("write_file", { path: `a/new${index}`, content: "x" });
      await setImmediate();
    }
    expect([...outcomes]).not.toContain("secret");
    expect(readdirSync(files.outside)).toEqual(["file"]);
  } finally {
    swapper.kill("SIGTERM");
    await exited;
  }
});

test.each([
  ["", /path: /],
  ["no\0pe", /a path has no NUL/],
  ["missing/file", /missing\/file does not exist/],
  ["x".repeat(300), /ENAMETOOLONG/],
  [".", /\. is a directory/],
])("reading %j says what is wrong", async (path, text) => {
  using files = openFileTools();
  expect(await files.call("read_file", { path })).toMatchObject({
    is_error: true,
    output: expect.stringMatching(text),
  });
});
