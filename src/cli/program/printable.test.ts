import fc from "fast-check";
import { expect, test } from "vitest";
import { printable, printableJson } from "./printable.ts";

test.each([
  ["plain text", "npm test", "npm test"],
  ["other scripts and emoji", "héllo 日本 👩‍💻", "héllo 日本 👩‍💻"],
  ["an escape sequence", "a\x1b[31mred", "a [31mred"],
  ["a title's own end", "\x1b]0;owned\x07x", " ]0;owned x"],
  ["lines", "one\r\ntwo\u2028three\u2029four", "one two three four"],
  ["NUL, DEL and eight-bit controls", "a\0b\x7fc\x9b31m", "a b c 31m"],
  ["text turned around", "exe.\u202etxt\u2066x\u200f", "exe. txt x "],
])("%s", (_name, text, expected) => {
  expect(printable(text)).toBe(expected);
});

test("whatever the text is, a terminal only prints it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(printable(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
    }),
  );
});

test("JSON says the same with everything escaped that a terminal would obey", () => {
  const title = "a\x1b[31m\x7f\x9b31m \u202etxt\u2066\u200f\u2028 日本 👩‍💻";
  const json = printableJson({ title });
  expect(json).toBe(
    String.raw`{"title":"a\u001b[31m\u007f\u009b31m \u202etxt\u2066\u200f\u2028 日本 👩‍💻"}`,
  );
  expect(JSON.parse(json)).toEqual({ title });
});
