import fc from "fast-check";
import { expect, test } from "vitest";
import { changesOf, diffLines } from "./diff.ts";

const line = fc.constantFrom("a", "b", "c", "", "  d");
const text = fc
  .array(line, { maxLength: 12 })
  .map((lines) => lines.map((one) => `${one}\n`).join(""));
const keep = (signs: string, lines: ReturnType<typeof diffLines>) =>
  lines
    .filter(({ sign }) => signs.includes(sign))
    .map((one) => `${one.text}\n`)
    .join("");

test("what stays and what goes is the old text, what stays and what comes the new one", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      expect(keep(" -", lines)).toBe(before);
      expect(keep(" +", lines)).toBe(after);
    }),
  );
});

test("only what differs is marked", () => {
  const lines = diffLines("one\ntwo\nthree\n", "one\n2\nthree\nfour\n");
  expect(lines.map(({ sign, text: words }) => sign + words)).toEqual([
    ...[" one", "-two", "+2", " three", "+four"],
  ]);
});

test("texts that are too long to compare go and come as a whole", () => {
  const many = (word: string) => Array.from({ length: 1500 }, (_, at) => `${word}${at}`).join("\n");
  const lines = diffLines(`same\n${many("a")}`, `same\n${many("b")}`);
  expect(lines[0]).toEqual({ sign: " ", text: "same" });
  expect(lines.length).toBe(3001);
});

test("an edit is shown as the change of its text, a new file as nothing but new lines", () => {
  const edits = [{ old: "world", new: "Reins" }];
  expect(changesOf("edit_file", { path: "a.md", edits })).toEqual([
    {
      path: "a.md",
      lines: [
        { sign: "-", text: "world" },
        { sign: "+", text: "Reins" },
      ],
    },
  ]);
  expect(changesOf("write_file", { path: "a.md", content: "x\n" })).toEqual([
    { path: "a.md", lines: [{ sign: "+", text: "x" }] },
  ]);
});

test.each([
  ["execute", { command: "ls" }],
  ["edit_file", { path: "a", edits: [{ old: "x" }] }],
  ["edit_file", { path: "a" }],
  ["write_file", { content: "x" }],
  ["write_file", null],
])("%s with %j is no change that could be shown as lines", (tool, input) => {
  expect(changesOf(tool, input)).toBeUndefined();
});
