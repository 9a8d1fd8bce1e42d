import fc from "fast-check";
import { expect, test } from "vitest";
import { type SseEvent, SseParser } from "./sse.ts";

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .map((value) => value.replace(/[\r\n]/g, "x"));
const field = fc.oneof(
  text.map((value) => `data: ${value}`),
  text.map((value) => `data:${value}`),
  text.map((value) => `: ${value}`),
  fc.nat().map((id) => `id: ${id}`),
  fc.constantFrom("event: run", "data", "retry: 5", "id: a\0b", "nothing: known"),
);
const stream = fc.array(fc.tuple(fc.oneof(field, fc.constant("")), lineEnd), { maxLength: 30 });

test("chunks may end anywhere and change nothing", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 20 }), { maxLength: 40 }), (lines, sizes) => {
      const bytes = new TextEncoder().encode(lines.flat().join(""));
      expect(parseChunks(cut(bytes, sizes))).toEqual(parseChunks([bytes]));
    }),
  );
});

test("the ends of lines may be any of three and change nothing", () => {
  fc.assert(
    fc.property(stream, (lines) => {
      // A lone CR before an empty line's LF would be one end of a line, so each stream has one kind throughout.
      const as = (end: string) => parse(lines.map(([line]) => `${line}${end}`).join(""));
      expect(as("\r\n")).toEqual(as("\n"));
      expect(as("\r")).toEqual(as("\n"));
    }),
  );
});

test("data of several lines is joined, and one space behind the colon is not part of it", () => {
  expect(parse("data: a\ndata:b\ndata\ndata:  c\n\n")).toEqual([
    { id: undefined, event: "message", data: "a\nb\n\n c" },
  ]);
});

test("an event has its own id and type, and the next one neither", () => {
  expect(parse("id: 7\nevent: run\ndata: {}\n\ndata: x\n\n")).toEqual([
    { id: "7", event: "run", data: "{}" },
    { id: undefined, event: "message", data: "x" },
  ]);
});

test("an id with a NUL is ignored, comments and unknown fields are too", () => {
  expect(parse(": hello\nid: 3\nid: 4\0\nretry: 10\nfoo: bar\ndata: x\n\n")).toEqual([
    { id: "3", event: "message", data: "x" },
  ]);
});

test("without data there is no event, and an unfinished one is none", () => {
  expect(parse("id: 3\nevent: a\n\n: alive\n\ndata: half\n")).toEqual([]);
});

test("a byte order mark at the beginning is not a part of the first field", () => {
  expect(parse("\uFEFFdata: x\n\n")).toHaveLength(1);
});

test("a line or an event that is too long is refused before it is kept", () => {
  const parser = new SseParser({ limit: 100 });
  const push = (part: string) => parser.push(new TextEncoder().encode(part));
  push(`data: ${"x".repeat(60)}`);
  expect(() => push("x".repeat(60))).toThrow(
    expect.objectContaining({ code: "payload_too_large" }),
  );
  const other = new SseParser({ limit: 100 });
  const line = new TextEncoder().encode(`data: ${"x".repeat(40)}\n`);
  other.push(line);
  other.push(line);
  expect(() => other.push(line)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
});

function parse(stream: string): SseEvent[] {
  return parseChunks([new TextEncoder().encode(stream)]);
}

function parseChunks(chunks: readonly Uint8Array[]): SseEvent[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}
