import fc from "fast-check";
import { expect, test } from "vitest";
import { compileLinear } from "./linear-pattern.ts";

test("a match is where the built-in engine finds it", () => {
  const part = fc.constantFrom("a", "b", "\n", "ü", "€", "😀", " ", "7");
  const source = fc.constantFrom(
    "a+b",
    "^b$",
    "ü.",
    "\\bb",
    "😀+",
    "[^a]{3}",
    "(a|b)*7",
    "a??b",
    "$",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), source, fc.nat(), (parts, wanted, place) => {
      const text = parts.join("");
      const from = place % (text.length + 1);
      if (/[\udc00-\udfff]/.test(text[from] ?? "")) return;
      const sticky = new RegExp(wanted, "gmu");
      sticky.lastIndex = from;
      const match = sticky.exec(text);
      const expected = match && { start: match.index, end: match.index + match[0].length };
      expect(compileLinear(wanted, { multiline: true }).find(text, from) ?? null).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["(?=a)", "look-ahead"],
  ["b(?!a)", "look-ahead"],
  ["(?<=a)b", "look-behind"],
  ["(?<!a)b", "look-behind"],
  ["(a)\\1", "back-reference"],
  ["(?<n>a)\\k<n>", "back-reference"],
  ["(?>a)", "atomic group"],
  ["\\Aa", "start of the text"],
])("%s is refused as %s, with what to write instead", (source, name) => {
  expect(() => compileLinear(source)).toThrow(
    new RegExp(`${name}\\) is not supported: .*\\. [A-Z]`),
  );
});

test("what looks like them inside of a class or behind a backslash is a pattern", () => {
  expect(compileLinear("[(?=]").test("?")).toBe(true);
  expect(compileLinear("\\\\1").test("\\1")).toBe(true);
  expect(compileLinear("\\(?=").test("=")).toBe(true);
});

test("what a search has remembered is released", () => {
  const pattern = compileLinear("a.{60}[0-9]");
  let seed = 7;
  const text = Array.from({ length: 50_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed > 1_073_741_824 ? "a" : "b";
  }).join("");
  expect(pattern.test(text)).toBe(false);
  pattern.release();
  expect(pattern.test(`${text}${"a".repeat(61)}7`)).toBe(true);
});
