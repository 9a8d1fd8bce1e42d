import { expect, test } from "vitest";
import { ModeTracker } from "./mode-tracker.ts";

const RENDITION = "\x1b[0m";

function track(...chunks: readonly string[]): ModeTracker {
  const modes = new ModeTracker();
  for (const chunk of chunks) modes.push(Buffer.from(chunk, "latin1"));
  return modes;
}

test("a terminal on which nothing was set needs only its colours back", () => {
  const modes = track("text\r\n\x1b[31m\x1b[2J\x1b[?12h");
  expect(modes.undo()).toBe(RENDITION);
  expect(modes.redo()).toBe("");
  expect(modes.isAlternate).toBe(false);
});

test.each([
  ["application cursor keys", "\x1b[?1h", "\x1b[?1l"],
  ["the alternate screen", "\x1b[?1049h", "\x1b[?1049l"],
  ["the old alternate screen", "\x1b[?47h", "\x1b[?47l"],
  ["the mouse", "\x1b[?1000h", "\x1b[?1000l"],
  ["every move of the mouse", "\x1b[?1003h", "\x1b[?1003l"],
  ["the mouse's numbers", "\x1b[?1006h", "\x1b[?1006l"],
  ["focus", "\x1b[?1004h", "\x1b[?1004l"],
  ["bracketed paste", "\x1b[?2004h", "\x1b[?2004l"],
  ["painting held back", "\x1b[?2026h", "\x1b[?2026l"],
  ["sizes told", "\x1b[?2048h", "\x1b[?2048l"],
  ["no cursor", "\x1b[?25l", "\x1b[?25h"],
  ["no wrapping", "\x1b[?7l", "\x1b[?7h"],
  ["the keypad", "\x1b=", "\x1b>"],
  ["insert mode", "\x1b[4h", "\x1b[4l"],
  ["line drawing", "\x1b(0", "\x1b(B"],
  ["the part that scrolls", "\x1b[2;5r", "\x1b7\x1b[r\x1b8"],
  ["the cursor's shape", "\x1b[5 q", "\x1b[0 q"],
  ["modifiers told apart", "\x1b[>4;2m", "\x1b[>4m"],
  ["a keyboard pushed", "\x1b[>1u", "\x1b[<1u"],
  ["a keyboard set", "\x1b[=5;1u", "\x1b[=0u"],
])("undoes and redoes %s", (_name, on, off) => {
  const modes = track(on);
  expect(modes.undo()).toBe(RENDITION + off);
  expect(modes.redo()).toBe(on);
  expect(track(on, off).undo()).toBe(RENDITION);
  expect(track(on, off).redo()).toBe("");
  expect(track(...on).redo()).toBe(on);
});

test("several modes in one sequence are several modes", () => {
  expect(track("\x1b[?1000;1006;2004h", "\x1b[?1006l").redo()).toBe("\x1b[?1000h\x1b[?2004h");
});

test.each([47, 1047, 1049])("mode %i is a full-screen program's", (mode) => {
  expect(track(`\x1b[?${mode}h`).isAlternate).toBe(true);
  expect(track(`\x1b[?${mode}h`, `\x1b[?${mode}l`).isAlternate).toBe(false);
});

test("the last one set is the first one undone, the keyboards before the screen that they are of", () => {
  const modes = track("\x1b[?1049h\x1b[>1u\x1b[>5u\x1b[?1h\x1b[2;5r");
  expect(modes.undo()).toBe(`${RENDITION}\x1b[<2u\x1b7\x1b[r\x1b8\x1b[?1l\x1b[?1049l`);
  expect(modes.redo()).toBe("\x1b[?1049h\x1b[?1h\x1b[2;5r\x1b[>1u\x1b[>5u");
});

test("keyboards are popped as many as are said", () => {
  const pushed = "\x1b[>1u\x1b[>2u\x1b[>3u";
  expect(track(pushed, "\x1b[<u").redo()).toBe("\x1b[>1u\x1b[>2u");
  expect(track(pushed, "\x1b[<2u").redo()).toBe("\x1b[>1u");
  expect(track(pushed, "\x1b[<9u").redo()).toBe("");
});

test("keyboards that are pushed without end are not remembered without end", () => {
  expect(track("\x1b[>1u".repeat(10_000)).undo()).toBe(`${RENDITION}\x1b[<32u`);
});

test("a reset of the terminal undoes everything", () => {
  const modes = track("\x1b[?1049;2004h\x1b[?25l\x1b[>1u\x1b=", "\x1bc");
  expect(modes.undo()).toBe(RENDITION);
});

test("the window's title is saved before the first one is set, and put back", () => {
  const modes = new ModeTracker();
  const push = (text: string) => modes.push(Buffer.from(text));
  expect(push("plain")).toBe("");
  expect(push("\x1b]0;one\x07")).toBe("\x1b[22;0t");
  expect(push("\x1b]2;two\x1b\\")).toBe("");
  expect(modes.undo()).toBe(`${RENDITION}\x1b]0;\x07\x1b[23;0t`);
  expect(modes.redo()).toBe("\x1b[22;0t\x1b]2;two\x1b\\");
});
