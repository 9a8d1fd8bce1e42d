import { expect, test } from "vitest";
import { isPlain, safeAddress } from "./safe-address.ts";

test.each([
  ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["HTTP://EXAMPLE.com", "http://example.com/"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
])("%s may be followed", (text, address) => {
  expect(safeAddress(text)).toBe(address);
});

test.each([
  "javascript:alert(1)",
  " javascript:alert(1)",
  "data:text/html,<b>",
  "file:///etc/passwd",
  "vbscript:x",
  "blob:https://example.com/1",
  "//example.com",
  "/v1/me",
  "#/s/ses_1",
  "",
  "https://example.com@evil.example/",
  "https://user:word@example.com/",
  `https://example.com/${"a".repeat(3000)}`,
])("%s may not be followed", (text) => {
  expect(safeAddress(text)).toBeUndefined();
});

test("only a text that is its own address shows where it leads", () => {
  expect(isPlain("https://example.com", "https://example.com/")).toBe(true);
  expect(isPlain("https://example.com/", "https://example.com/")).toBe(true);
  expect(isPlain("https://bank.example", "https://evil.example/")).toBe(false);
});
