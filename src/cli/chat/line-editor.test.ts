import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import {
  type EditKey,
  type Editor,
  edit,
  emptyEditor,
  insert,
  moveLine,
  splitAtCursor,
} from "./line-editor.ts";

/** `|` is the cursor. */
function at(text: string): Editor {
  return { text: text.replace("|", ""), cursor: text.indexOf("|") };
}

function show({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test("keys move and remove what a person sees as one character", () => {
  const table: [before: string, key: EditKey, after: string][] = [
    ["ab|c", "left", "a|bc"],
    ["|abc", "left", "|abc"],
    ["👩‍👩‍👧|", "left", "|👩‍👩‍👧"],
    ["a|é", "right", "aé|"],
    ["abc|", "right", "abc|"],
    ["中文|", "backspace", "中|"],
    ["|a", "backspace", "|a"],
    ["👍🏽|", "backspace", "|"],
    ["a|bc", "delete", "a|c"],
    ["one\ntwo|", "home", "one\n|two"],
    ["|\ntwo", "home", "|\ntwo"],
    ["o|ne\ntwo", "end", "one|\ntwo"],
    ["one two|", "kill_word", "one |"],
    ["one two  |x", "kill_word", "one |x"],
    ["one|x", "kill_line", "|x"],
    ["o|ne\ntwo", "kill_rest", "o|\ntwo"],
    ["  |", "kill_word", "|"],
  ];
  for (const [before, key, after] of table)
    expect([before, key, show(edit(at(before), key))]).toEqual([before, key, after]);
});

test("the same place in the next line is counted in characters that a person sees", () => {
  const table: [before: string, by: -1 | 1, after: string | undefined][] = [
    ["one\ntw|o", -1, "on|e\ntwo"],
    ["o\ntwo|", -1, "o|\ntwo"],
    ["中文x|\nabcd", 1, "中文x\nabc|d"],
    ["ab|c\n👩‍👩‍👧👍🏽x", 1, "abc\n👩‍👩‍👧👍🏽|x"],
    ["a\n\n|b", -1, "a\n|\nb"],
    ["on|e\ntwo", -1, undefined],
    ["one\ntw|o", 1, undefined],
  ];
  for (const [before, by, after] of table) {
    const moved = moveLine(at(before), by);
    expect([before, moved === undefined ? undefined : show(moved)]).toEqual([before, after]);
  }
});

test("a word behind one that fills a message is removed without a look at each part of it", () => {
  const long = "a".repeat(limits.message_chars - 2);
  expect(edit({ text: `${long} b`, cursor: long.length + 2 }, "kill_word").text).toBe(`${long} `);
});

test("text goes in where the cursor is, and not more than a message may have", () => {
  expect(show(insert(at("a|d"), "b\r\nc"))).toBe("ab\nc|d");
  const full = insert(emptyEditor, "x".repeat(limits.message_chars));
  expect(insert(full, "y")).toEqual(full);
});

test("the character at the cursor stands apart", () => {
  expect(splitAtCursor(at("a|中b"))).toEqual(["a", "中", "b"]);
  expect(splitAtCursor(at("ab|"))).toEqual(["ab", "", ""]);
});
