import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { PROMPT_FILE_BYTES, readPromptFiles } from "./prompt-files.ts";

test("a relative name is the home's file, then the nearest upwards", async () => {
  using place = openPlace({
    "home/AGENTS.md": "home",
    "AGENTS.md": "far",
    "repo/AGENTS.md": "near",
    "repo/src/deep/x": "",
  });
  const found = await place.read(["AGENTS.md"], "repo/src/deep");
  expect(found).toEqual({
    files: [
      { path: place.at("home/AGENTS.md"), text: "home" },
      { path: place.at("repo/AGENTS.md"), text: "near" },
    ],
    warnings: [],
  });
});

test("the work dir's own file is the nearest", async () => {
  using place = openPlace({ "repo/A.md": "outer", "repo/src/A.md": "inner", "home/x": "" });
  expect(textsOf(await place.read(["A.md"], "repo/src"))).toEqual(["inner"]);
});

test("a name may have folders, start at the home or be absolute", async () => {
  using place = openPlace({
    "repo/notes/a.md": "a",
    "home/b.md": "b",
    "c.md": "c",
    "repo/src/x": "",
  });
  const found = await place.read(["notes/a.md", "~/b.md", place.at("c.md")], "repo/src");
  expect(textsOf(found)).toEqual(["a", "b", "c"]);
  expect(found.warnings).toEqual([]);
});

test("the same file is read once, by whatever name", async () => {
  using place = openPlace({ "home/A.md": "a" });
  symlinkSync("A.md", place.at("home/B.md"));
  const found = await place.read(["A.md", "B.md", "~/A.md"], "home");
  expect(found).toEqual({ files: [{ path: place.at("home/A.md"), text: "a" }], warnings: [] });
});

test("a file that is not there is a warning", async () => {
  using place = openPlace({ "home/x": "" });
  expect(await place.read(["reins-no-such-file.md"], "home")).toEqual({
    files: [],
    warnings: ["the prompt file reins-no-such-file.md is not there"],
  });
});

test("a folder or a pipe of that name is passed over without a word", async () => {
  using place = openPlace({
    "repo/A.md": "a",
    "repo/one/A.md/x": "",
    "repo/one/two/x": "",
    "home/x": "",
  });
  execFileSync("mkfifo", [place.at("repo/one/two/A.md")]);
  const found = await place.read(["A.md"], "repo/one/two");
  expect(textsOf(found)).toEqual(["a"]);
  expect(found.warnings).toEqual([]);
});

test("a file that is too long is cut between characters, and that is said", async () => {
  using place = openPlace({ "home/x": "" });
  writeFileSync(place.at("home/A.md"), `a${"é".repeat(PROMPT_FILE_BYTES)}`);
  const { files, warnings } = await place.read(["A.md"], "home");
  expect(files[0]?.text).toBe(`a${"é".repeat(PROMPT_FILE_BYTES / 2 - 1)}`);
  expect(warnings).toEqual([
    `the prompt file ${place.at("home/A.md")} is cut: it is longer than 65536 bytes`,
  ]);
});

test("a file of exactly the most bytes is whole", async () => {
  using place = openPlace({ "home/A.md": "x".repeat(PROMPT_FILE_BYTES) });
  const { files, warnings } = await place.read(["A.md"], "home");
  expect(files[0]?.text).toHaveLength(PROMPT_FILE_BYTES);
  expect(warnings).toEqual([]);
});

test("a loop of links is a warning, not an end", async () => {
  using place = openPlace({ "home/x": "", "repo/A.md": "a", "repo/in/x": "" });
  symlinkSync("A.md", place.at("repo/in/A.md"));
  const { files, warnings } = await place.read(["A.md"], "repo/in");
  expect(files.map((file) => file.text)).toEqual(["a"]);
  expect(warnings).toEqual([expect.stringMatching(/in\/A\.md cannot be read: ELOOP/)]);
});

function textsOf({ files }: { readonly files: readonly { readonly text: string }[] }): string[] {
  return files.map((file) => file.text);
}

/** Folders with these files; `home` is the home. */
function openPlace(files: Readonly<Record<string, string>>) {
  const dir = openTempDir();
  const at = (path: string) => join(dir.path, path);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
  return {
    at,
    read: (names: readonly string[], work_dir: string) =>
      readPromptFiles(names, { work_dir: at(work_dir), home: at("home") }),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}
