import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeQuickKey,
  isAnyDown,
  modify,
  NO_STICKY_KEYS,
  pressModifier,
  quickKeys,
  releaseModifiers,
} from "./quick-keys.ts";

const ctrl = { ctrl: "once", alt: "off" } as const;
const alt = { ctrl: "off", alt: "once" } as const;
const both = { ctrl: "locked", alt: "once" } as const;
const plain = { applicationCursor: false };

test("every quick key sends what a keyboard sends", () => {
  const sent = quickKeys.map(({ id }) => encodeQuickKey(id, NO_STICKY_KEYS, plain));
  expect(sent).toEqual([
    "\x1b",
    "\t",
    "\x1b[D",
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x03",
    "|",
    "~",
    "/",
    "-",
  ]);
});

test("a program in application mode gets its own arrows, unless a modifier is down", () => {
  const application = { applicationCursor: true };
  expect(encodeQuickKey("up", NO_STICKY_KEYS, application)).toBe("\x1bOA");
  expect(encodeQuickKey("up", ctrl, application)).toBe("\x1b[1;5A");
  expect(encodeQuickKey("left", alt, plain)).toBe("\x1b[1;3D");
  expect(encodeQuickKey("right", both, plain)).toBe("\x1b[1;7C");
});

test.each([
  ["c", "\x03"],
  ["C", "\x03"],
  ["z", "\x1a"],
  [" ", "\x00"],
  ["[", "\x1b"],
  ["\\", "\x1c"],
  ["/", "\x1f"],
  ["?", "\x7f"],
  ["1", "1"],
  ["é", "é"],
])("control and %j is %j", (typed, sent) => {
  expect(modify(typed, ctrl)).toBe(sent);
});

test("alt puts an escape before what is typed", () => {
  expect(modify("b", alt)).toBe("\x1bb");
  expect(modify("b", both)).toBe("\x1b\x02");
  expect(modify("😀", alt)).toBe("\x1b😀");
});

test("what is longer than a character is never modified", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 2 }), (text) => {
      fc.pre([...text].length > 1);
      expect(modify(text, both)).toBe(text);
    }),
  );
});

test("a modifier is down for one key, then locked, then up", () => {
  const once = pressModifier(NO_STICKY_KEYS, "ctrl");
  const locked = pressModifier(once, "ctrl");
  expect([once.ctrl, locked.ctrl, pressModifier(locked, "ctrl").ctrl]).toEqual([
    "once",
    "locked",
    "off",
  ]);
  expect(releaseModifiers(once)).toEqual(NO_STICKY_KEYS);
  expect(releaseModifiers(locked)).toBe(locked);
  expect(releaseModifiers(both)).toEqual({ ctrl: "locked", alt: "off" });
  expect(isAnyDown(NO_STICKY_KEYS)).toBe(false);
  expect(isAnyDown(alt)).toBe(true);
});
