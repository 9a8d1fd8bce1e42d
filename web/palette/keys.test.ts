import fc from "fast-check";
import { expect, test } from "vitest";
import { chordOf, formatKeys, isSameChord, type KeyPress, parseKeys } from "./keys.ts";

const plain = { ctrl: false, alt: false, shift: false, meta: false };

function press(key: string, fields: Partial<KeyPress> = {}): KeyPress {
  return {
    ...{ key, code: "", ctrlKey: false, altKey: false, shiftKey: false, metaKey: false },
    ...fields,
  };
}

test("Mod is Ctrl, and ⌘ on a Mac", () => {
  expect(parseKeys("Mod+K", false)).toEqual([{ ...plain, key: "k", ctrl: true }]);
  expect(parseKeys("Mod+K", true)).toEqual([{ ...plain, key: "k", meta: true }]);
});

test("presses follow each other after a space", () => {
  expect(parseKeys("g s", false)).toEqual([
    { ...plain, key: "g" },
    { ...plain, key: "s" },
  ]);
});

test.each([
  ["Ctrl+Shift+P", { key: "p", ctrl: true, shift: true }],
  ["Alt+Up", { key: "ArrowUp", alt: true }],
  ["Esc", { key: "Escape" }],
  ["Ctrl++", { key: "+", ctrl: true }],
  ["+", { key: "+" }],
  ["?", { key: "?" }],
  ["Shift+?", { key: "?" }],
  ["Shift+Enter", { key: "Enter", shift: true }],
])("%s is read", (text, fields) => {
  expect(parseKeys(text, false)).toEqual([{ ...plain, ...fields }]);
});

test("nothing is no key", () => {
  expect(parseKeys("", false)).toEqual([]);
});

test("a sign is itself, whether Shift was needed for it or not", () => {
  const [wanted] = parseKeys("?", false);
  const pressed = chordOf(press("?", { shiftKey: true }));
  expect(wanted).toEqual(pressed);
});

test("a letter with Shift is another chord than the letter", () => {
  expect(chordOf(press("G", { shiftKey: true }))).toEqual({ ...plain, key: "g", shift: true });
  expect(chordOf(press("G"))).toEqual({ ...plain, key: "g" });
});

test("a keyboard of another script is read by the place of its keys", () => {
  const pressed = chordOf(press("л", { code: "KeyK", ctrlKey: true }));
  expect(pressed).toEqual({ ...plain, key: "k", ctrl: true });
});

test("a Latin keyboard of another layout is read by what it writes", () => {
  expect(chordOf(press("a", { code: "KeyQ" }))?.key).toBe("a");
});

test.each(["Shift", "Control", "Meta", "Alt", "Dead", "Process"])("%s alone is no press", (key) => {
  expect(chordOf(press(key))).toBeUndefined();
});

test("a chord differs by each of its parts", () => {
  const one = { ...plain, key: "k" };
  expect(isSameChord(one, { ...one })).toBe(true);
  for (const part of ["ctrl", "alt", "shift", "meta"])
    expect(isSameChord(one, { ...one, [part]: true })).toBe(false);
  expect(isSameChord(one, { ...one, key: "j" })).toBe(false);
});

test("caps are drawn as each system calls them", () => {
  expect(formatKeys("Mod+Shift+K", false)).toEqual([["Ctrl", "Shift", "K"]]);
  expect(formatKeys("Mod+Shift+K", true)).toEqual([["⌘", "⇧", "K"]]);
  expect(formatKeys("g s", false)).toEqual([["g"], ["s"]]);
});

test("any text is read without a crash, one chord for each cap group", () => {
  fc.assert(
    fc.property(fc.string(), fc.boolean(), (text, isMac) => {
      expect(parseKeys(text, isMac)).toHaveLength(formatKeys(text, isMac).length);
    }),
  );
});
