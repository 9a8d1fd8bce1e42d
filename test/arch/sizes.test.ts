import { dirname } from "node:path";
import { expect, test } from "vitest";
import { isTest, listFiles, readFile } from "./sources.ts";

const SOURCE_LINES = 400;
const TEST_LINES = 600;
/** About 15; one that needs more holds a second idea. */
const FOLDER_FILES = 18;
/** One file a verb: the list of the files is the list of the commands. */
const VERBS = "src/cli/commands";

/** Words that say nothing about what a thing is: anywhere in a name, at its start, at its end. */
const EMPTY_WORD = /^((manager|service|helper|util)s?|utility|utilities|common|misc|v[2-9])$/i;
const EMPTY_START = /^(new|base)$/i;
const EMPTY_END = /^(data|info)$/i;
const NOTE = /\b(?:TODO|FIXME|XXX)\b/g;
const NOTE_WITH_ISSUE = /^TODO\(#\d+\): /;

const files = listFiles("{src,test,bench,scripts}/**/*.{ts,mjs}", "web/**/*.{ts,tsx}");

test("no file is longer than its kind may be", () => {
  const tooLong = files.filter((file) => {
    const lines = readFile(file).split("\n").length - 1;
    return lines > (isTest(file) ? TEST_LINES : SOURCE_LINES);
  });
  expect(tooLong).toEqual([]);
});

test("no folder holds more source files than one can overlook", () => {
  const sources = files.filter((file) => !isTest(file));
  const folders = Map.groupBy(sources, (file) => dirname(file));
  const crowded = [...folders].filter(
    ([folder, held]) => folder !== VERBS && held.length > FOLDER_FILES,
  );
  expect(crowded.map(([folder, held]) => `${folder}: ${held.length}`)).toEqual([]);
});

test("no file, type or class has a name without a meaning", () => {
  const named = files.flatMap((file) =>
    [
      ...fileNames(file).filter((name) => isEmpty(name.split("-"))),
      ...typeNames(readFile(file)).filter((name) => isEmpty(name.split(/(?=[A-Z])/))),
    ].map((name) => `${file}: ${name}`),
  );
  expect(named).toEqual([]);
});

test("every note of unfinished work names its issue", () => {
  const bare = files
    .filter((file) => file !== "test/arch/sizes.test.ts")
    .filter((file) => {
      const text = readFile(file);
      return [...text.matchAll(NOTE)].some((note) => !NOTE_WITH_ISSUE.test(text.slice(note.index)));
    });
  expect(bare).toEqual([]);
});

function fileNames(file: string): string[] {
  return file
    .replace(/(\.test)?\.\w+$/, "")
    .split("/")
    .slice(1);
}

function typeNames(text: string): string[] {
  const found = text.matchAll(/\b(?:class|interface|type|const) ([A-Z][a-z]\w*)/g);
  return [...new Set([...found].map((match) => match[1] ?? ""))];
}

function isEmpty(words: readonly string[]): boolean {
  // The folder base/ is a name of its own; base-thing is not.
  if (words.length > 1 && EMPTY_START.test(words[0] ?? "")) return true;
  return EMPTY_END.test(words.at(-1) ?? "") || words.some((word) => EMPTY_WORD.test(word));
}
