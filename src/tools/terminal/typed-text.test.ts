import { expect, test } from "vitest";
import { encodePaste, encodeTyped } from "./typed-text.ts";

const BRACKETED = { bracketed_paste: true };
const PLAIN = { bracketed_paste: false };

test("a line end is typed as Enter, the rest as it is", () => {
  expect(encodeTyped("a\nb\r\nc\rd\x1b\tü")).toBe("a\rb\rc\rd\x1b\tü");
});

test("a paste is marked for who has asked for that", () => {
  expect(encodePaste("a\n\tü", BRACKETED)).toBe("\x1b[200~a\r\tü\x1b[201~");
  expect(encodePaste("a\n\tü", PLAIN)).toBe("a\r\tü");
});

test("what is pasted cannot end the paste, nor press keys", () => {
  const hostile = "a\x1b[201~\x9b201~rm -rf x\r\x03\x04\x7fb";
  expect(encodePaste(hostile, BRACKETED)).toBe("\x1b[200~a201~rm -rf x\rb\x1b[201~");
  expect(encodePaste(hostile, PLAIN)).toBe("a201~rm -rf x\rb");
  const nested = "a\x1b[20\x1b[201~1~b";
  expect(encodePaste(nested, BRACKETED)).toBe("\x1b[200~a[201~b\x1b[201~");
});

test("an empty paste is nothing", () => {
  expect(encodePaste("", BRACKETED)).toBe("");
  expect(encodePaste("\x1b", BRACKETED)).toBe("");
});
