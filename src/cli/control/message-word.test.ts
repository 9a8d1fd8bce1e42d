import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { cutNewlines } from "./message-word.ts";

test("newlines go at the end of a message, and only there", () => {
  expect(["one\n\ntwo\r\n\n", "\n\n", "", "one "].map(cutNewlines)).toEqual([
    ...["one\n\ntwo", "", "", "one "],
  ]);
});

test("a message of newlines before a word is as fast as any other", () => {
  const text = `${"\n".repeat(4 * limits.message_chars)}a`;
  expect(cutNewlines(text) === text).toBe(true);
});
