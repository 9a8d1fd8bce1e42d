import type { Key } from "ink";
import { expect, test } from "vitest";
import { readKeys } from "./read-keys.ts";

const none: Key = {
  ...{ upArrow: false, downArrow: false, leftArrow: false, rightArrow: false },
  ...{ pageDown: false, pageUp: false, home: false, end: false, return: false, escape: false },
  ...{ ctrl: false, shift: false, tab: false, backspace: false, delete: false, meta: false },
  ...{ super: false, hyper: false, capsLock: false, numLock: false },
};

test("keys that came together are read one by one", () => {
  expect(readKeys("hello\rnext\u0004", none)).toEqual([
    { kind: "text", text: "hello" },
    { kind: "enter" },
    { kind: "text", text: "next" },
    { kind: "leave" },
  ]);
  expect(readKeys("a\u0000b\u001f", none)).toEqual([
    { kind: "text", text: "a" },
    { kind: "text", text: "b" },
  ]);
});

test("keys have their meaning", () => {
  expect(readKeys("", { ...none, return: true })).toEqual([{ kind: "enter" }]);
  expect(readKeys("", { ...none, return: true, meta: true })).toEqual([{ kind: "newline" }]);
  expect(readKeys("d", { ...none, ctrl: true })).toEqual([{ kind: "leave" }]);
  expect(readKeys("o", { ...none, ctrl: true })).toEqual([{ kind: "unfold" }]);
  expect(readKeys("z", { ...none, ctrl: true })).toEqual([]);
  expect(readKeys("", { ...none, escape: true })).toEqual([{ kind: "escape" }]);
  expect(readKeys("x", { ...none, meta: true })).toEqual([]);
});
