import fc from "fast-check";
import { expect, test } from "vitest";
import { cut, lastLine, safeLine, safeText } from "./safe-text.ts";

test("nothing that comes from outside can control a terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(safeText(text)).not.toMatch(/[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      expect(safeLine(text)).not.toContain("\n");
    }),
  );
  expect(safeText("a\u001b]0;title\u0007b\u009b31mc\td\r\ne\rf")).toBe(
    "a ]0;title b 31mc    d\ne\nf",
  );
  expect(safeText("\ud800x")).toBe("\ufffdx");
});

test("the last line is the newest that says something", () => {
  expect(lastLine("one\ntwo\n\n")).toBe("two");
  expect(lastLine("10%\r20%\r30%")).toBe("30%");
  expect(lastLine("")).toBe("");
});

test("what is too long is cut, and never in the middle of a character", () => {
  expect(cut("abcd", 4)).toBe("abcd");
  expect(cut("abcde", 4)).toBe("abcd…");
  expect(cut("abc😀d", 4)).toBe("abc…");
});
