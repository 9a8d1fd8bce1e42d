import fc from "fast-check";
import { expect, test } from "vitest";
import { LINE_LIMIT, type LogLine, lines } from "./lines.ts";
import type { LogChunk } from "./log-source.ts";

/** The bytes cut at the given places, as chunks of a log that begins at `offset`. */
function chunksOf(bytes: Buffer, cuts: readonly number[], offset = 0): LogChunk[] {
  const places = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  let from = 0;
  return places
    .sort((a, b) => a - b)
    .flatMap((to) => {
      const piece = { offset: offset + from, bytes: bytes.subarray(from, to) };
      from = to;
      return piece.bytes.length === 0 ? [] : [{ kind: "bytes", channel: 1, at_ms: 0, ...piece }];
    });
}

const linesIn = (chunks: Iterable<LogChunk>) => Array.fromAsync(lines(chunks));

const object = fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }));

test("gives back every object with the offset behind its line, wherever the bytes are cut", async () => {
  const cuts = fc.array(fc.nat(2000));
  await fc.assert(
    fc.asyncProperty(fc.array(object), cuts, fc.nat(10 ** 9), async (values, places, start) => {
      let offset = start;
      const expected = values.map((value): LogLine => {
        const text = JSON.stringify(value);
        offset += Buffer.byteLength(text) + 1;
        return { kind: "line", end_offset: offset, text, value };
      });
      const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
      expect(await linesIn(chunksOf(bytes, places, start))).toEqual(expected);
    }),
  );
});

test("half a line that the next life ended is skipped and said, an empty one is nothing", async () => {
  const half = '{"a":"ü';
  const bytes = Buffer.from(`{"n":1}\n${half}\n\n\n{"n":2}\n`);
  const end = 8 + Buffer.byteLength(half) + 1;
  expect(await linesIn(chunksOf(bytes, [12]))).toEqual([
    { kind: "line", end_offset: 8, text: '{"n":1}', value: { n: 1 } },
    { kind: "skipped", from: 8, to: end, reason: "malformed" },
    { kind: "line", end_offset: bytes.length, text: '{"n":2}', value: { n: 2 } },
  ]);
});

test.each(["[1]", "null", "7", '"text"'])("%s is no event", async (text) => {
  expect(await linesIn(chunksOf(Buffer.from(`${text}\n`), []))).toEqual([
    { kind: "skipped", from: 0, to: text.length + 1, reason: "malformed" },
  ]);
});

test("what has no newline yet is unfinished", async () => {
  expect(await linesIn(chunksOf(Buffer.from('{}\n{"a"'), [5]))).toEqual([
    { kind: "line", end_offset: 3, text: "{}", value: {} },
    { kind: "skipped", from: 3, to: 7, reason: "unfinished" },
  ]);
});

test("a gap takes the line that it cut, and what is whole behind it is kept", async () => {
  const chunks: LogChunk[] = [
    ...chunksOf(Buffer.from('{"a":1}\n{"b"'), []),
    { kind: "gap", from: 12, to: 100 },
    ...chunksOf(Buffer.from('2}\n{"c":3}\n'), [], 100),
    { kind: "gap", from: 111, to: 200 },
    ...chunksOf(Buffer.from('{"d":4}\n'), [], 200),
  ];
  expect(await linesIn(chunks)).toEqual([
    { kind: "line", end_offset: 8, text: '{"a":1}', value: { a: 1 } },
    { kind: "skipped", from: 8, to: 100, reason: "gap" },
    { kind: "skipped", from: 100, to: 103, reason: "malformed" },
    { kind: "line", end_offset: 111, text: '{"c":3}', value: { c: 3 } },
    { kind: "skipped", from: 111, to: 200, reason: "gap" },
    { kind: "line", end_offset: 208, text: '{"d":4}', value: { d: 4 } },
  ]);
});

test("a line of the limit is a line, one byte more is not", async () => {
  const line = (length: number) => `{"a":"${"x".repeat(length - 8)}"}\n`;
  const bytes = Buffer.from(`${line(LINE_LIMIT)}${line(LINE_LIMIT + 1)}{}\n`);
  const found = await linesIn(chunksOf(bytes, [70_000, 1_500_000, 2_000_000]));
  expect(found.map((each) => (each.kind === "line" ? each.end_offset : each))).toEqual([
    LINE_LIMIT + 1,
    { kind: "skipped", from: LINE_LIMIT + 1, to: 2 * LINE_LIMIT + 3, reason: "too_long" },
    bytes.length,
  ]);
});

test("an endless line is dropped as it comes and named at the end", async () => {
  const piece = Buffer.alloc(LINE_LIMIT, "x");
  const chunks = Array.from({ length: 5 }, (_, turn): LogChunk => {
    return { kind: "bytes", offset: turn * LINE_LIMIT, channel: 1, at_ms: 0, bytes: piece };
  });
  expect(await linesIn(chunks)).toEqual([
    { kind: "skipped", from: 0, to: 5 * LINE_LIMIT, reason: "too_long" },
  ]);
});
