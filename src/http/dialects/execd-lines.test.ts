import { expect, test } from "vitest";
import type { OutputChannel } from "#contract/channels.ts";
import { LINE_BYTES, type OutputLine, OutputLines } from "./execd-lines.ts";

/** Pushes pieces one after the other, as a log would give them, then ends. */
function linesOf(...pieces: (readonly [OutputChannel, string | Buffer])[]): OutputLine[] {
  const lines = new OutputLines();
  let offset = 0;
  const found: OutputLine[] = [];
  for (const [channel, piece] of pieces) {
    const bytes = Buffer.from(piece);
    found.push(...lines.push(channel, offset, bytes));
    offset += bytes.length;
  }
  return [...found, ...lines.flush(offset)];
}
const texts = (lines: readonly OutputLine[]) => lines.map(({ text }) => text);

test("a line comes when its end has, whatever pieces it was printed in", () => {
  const lines = linesOf(["stdout", "a"], ["stdout", "b\nc"], ["stdout", "\n"], ["stdout", "\nd"]);
  expect(texts(lines)).toEqual(["ab", "c", "", "d"]);
  expect(lines.map(({ newline }) => newline)).toEqual([true, true, true, false]);
  expect(lines.map(({ offset }) => offset)).toEqual([0, 3, 5, 6]);
});

test("only a line feed ends a line", () => {
  expect(texts(linesOf(["stdout", "10%\r20%\r\nb\u2028c\n"]))).toEqual(["10%\r20%\r", "b\u2028c"]);
});

test("nothing printed is no line", () => {
  expect(linesOf()).toEqual([]);
  expect(linesOf(["stdout", ""])).toEqual([]);
});

test("channels do not mix, and who goes on from next misses nothing", () => {
  const lines = linesOf(["stdout", "ou"], ["stderr", "err\n"], ["stdout", "t\n"]);
  expect(lines).toEqual([
    { channel: "stderr", offset: 2, text: "err", newline: true, next: 0 },
    { channel: "stdout", offset: 0, text: "out", newline: true, next: 8 },
  ]);
});

test("a character that came in two pieces is whole", () => {
  const euro = Buffer.from("€");
  const lines = linesOf(["stdout", euro.subarray(0, 1)], ["stdout", euro.subarray(1)]);
  expect(texts(lines)).toEqual(["€"]);
});

test("a very long line comes in parts that say so", () => {
  const long = "x".repeat(2 * LINE_BYTES + 5);
  for (const size of [long.length + 1, 1000]) {
    const text = `${long}\n`;
    const pieces = Array.from(
      { length: Math.ceil(text.length / size) },
      (_, at) => ["stdout", text.slice(at * size, (at + 1) * size)] as const,
    );
    const lines = linesOf(...pieces);
    expect(lines.map((line) => [line.text.length, line.newline, line.next])).toEqual([
      [LINE_BYTES, false, LINE_BYTES],
      [LINE_BYTES, false, 2 * LINE_BYTES],
      [5, true, 2 * LINE_BYTES + 6],
    ]);
  }
});

test("a line of exactly the longest length is one line", () => {
  const lines = linesOf(["stdout", `${"x".repeat(LINE_BYTES)}\ny`]);
  expect(lines.map(({ text, newline }) => [text.length, newline])).toEqual([
    [LINE_BYTES, true],
    [1, false],
  ]);
});
