import fc from "fast-check";
import { expect, test } from "vitest";
import { hasName, parseAddress } from "./addresses.ts";
import { countLines, needsLook, withoutBrackets } from "./pasting.ts";

test("several lines are looked at first where the program would run each", () => {
  expect(needsLook("ls\nrm -r x", { isBracketed: false })).toBe(true);
  expect(needsLook("ls\rpwd", { isBracketed: false })).toBe(true);
  // One line that ends is run as well.
  expect(needsLook("ls\n", { isBracketed: false })).toBe(true);
  expect(needsLook("ls", { isBracketed: false })).toBe(false);
  expect(needsLook("ls\nrm -r x", { isBracketed: true })).toBe(false);
});

test("lines are counted by whatever ends them", () => {
  expect(countLines("a\r\nb\rc\nd")).toBe(4);
});

test("a paste never ends its own brackets", () => {
  expect(withoutBrackets("a\x1b[201~b")).toBe("ab");
  expect(withoutBrackets("\x1b[20\x1b[201~1~x")).toBe("x");
  const piece = fc.constantFrom("\x1b[201~", "\x1b[200~", "\x1b[20", "1~", "0~", "x", "\x1b");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(withoutBrackets(pieces.join(""))).not.toMatch(/\x1b\[20[01]~/);
    }),
  );
});

test("only http and https are followed", () => {
  expect(parseAddress("https://example.org/a?b#c")?.href).toBe("https://example.org/a?b#c");
  for (const text of [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "mailto:a@example.org",
    "//example.org",
    "example.org",
    `https://example.org/${"x".repeat(5000)}`,
  ])
    expect(parseAddress(text)).toBe(undefined);
});

test("a name before the host is noticed", () => {
  const withName = parseAddress("https://bank.example@evil.example/");
  expect(withName !== undefined && hasName(withName)).toBe(true);
  expect(withName?.host).toBe("evil.example");
});
