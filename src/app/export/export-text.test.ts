import fc from "fast-check";
import { expect, test } from "vitest";
import { channels } from "#contract/channels.ts";
import { PlainText } from "#contract/text/plain-text.ts";
import type { Piece } from "./export-pieces.ts";
import { writeText } from "./export-text.ts";

function plain(...parts: readonly string[]): string {
  const text = new PlainText();
  return parts.map((part) => text.push(part)).join("") + text.flush();
}

const piece = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    ...["\r", "\n", "\r\n", "\b", "\t", "\x07", "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\"],
    ...["\x1b[31m", "\x1b]0;title\x07", "\x1b(B", "\x18", "\x9b", "\x9d", "\x9c", "\x7f", "😀"],
  ),
);

test("where the output is cut changes nothing", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat()), (parts, cuts) => {
      const text = parts.join("");
      // A decoder never gives half a character.
      const characters = [...text];
      const places = cuts.map((cut) => cut % (characters.length + 1)).sort((a, b) => a - b);
      const cut = [0, ...places].map((from, at) =>
        characters.slice(from, places[at] ?? characters.length).join(""),
      );
      expect(plain(...cut)).toBe(plain(text));
    }),
    { numRuns: 500 },
  );
});

test("nothing that a terminal would obey is left", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      expect(plain(parts.join(""))).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

test.each([
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["private modes", "\x1b[?2004ha\x1b[>4;1mb", "ab"],
  ["a title that BEL ends", "\x1b]0;a title\x07text", "text"],
  ["a title that ST ends", "\x1b]0;a title\x1b\\text", "text"],
  ["a device string", "\x1bP1$r0m\x1b\\text", "text"],
  ["character sets", "\x1b(B\x1b)0\x1b(Ptext", "text"],
  ["one-character introducers", "\x9b1mred\x9d0;title\x9ctext", "redtext"],
  ["a sequence that is cancelled", "\x1b[12\x18text", "text"],
  ["a sequence that another one ends", "\x1b[12\x1b[mtext", "text"],
  ["a line feed inside of a sequence", "a\x1b[1\nmb", "a\nb"],
  ["a sequence that ends in a character of two units", "a\x1b😀b\x1b\u{1005b}c", "abc"],
  ["CR LF", "a\r\nb\r\r\nc\n", "a\nb\nc\n"],
  ["a line that is drawn again", "10%\r50%\r100%\r\ndone", "100%\ndone"],
  ["a return at the end", "100%\r", "100%"],
  ["erasing", "lx\b \bs\n", "ls\n"],
  ["bold by overstriking", "b\bbo\bold", "bold"],
  ["writing into the middle", "abcdef\b\b\bX\n", "abcXef\n"],
  ["a backspace over a large character", "a😀\bb\n", "ab\n"],
  ["more backspaces than characters", "a\b\b\bbc\n", "bc\n"],
  ["bells and nulls", "a\x07b\0c\x7fd\te", "abcd\te"],
])("%s", (_, text, expected) => {
  expect(plain(text)).toBe(expected);
});

test("a line without an end is given away in parts, no character cut", () => {
  const text = new PlainText();
  const line = `x${"😀".repeat(100_000)}`;
  const first = text.push(line);
  expect(first.length).toBeGreaterThan(100_000);
  expect(first.isWellFormed()).toBe(true);
  expect(first + text.flush()).toBe(line);
});

test("a line that is written over again and again costs no more than its output", () => {
  const text = new PlainText();
  text.push("a".repeat(60_000));
  expect(text.push("\bb".repeat(1_000_000))).toBe("");
  expect(text.flush()).toBe(`${"a".repeat(59_999)}b`);
});

test("a gap is a line of its own, and nothing reaches across it", async () => {
  const bytes = (offset: number, text: string): Piece => ({
    kind: "bytes",
    offset,
    at_ms: 0,
    channel: channels.stdout,
    bytes: Buffer.from(text, "latin1"),
  });
  const pieces = async function* (): AsyncGenerator<Piece> {
    yield bytes(0, "begun\x1b]0;title \xe2\x82");
    yield { kind: "gap", from: 20, to: 120, at_ms: 0 };
    yield bytes(120, "\xacend");
  };
  expect((await Array.fromAsync(writeText(pieces()))).join("")).toBe(
    "begun\n[… 100 bytes are no longer kept …]\n\ufffdend\n",
  );
});
