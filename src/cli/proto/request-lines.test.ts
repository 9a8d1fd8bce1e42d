import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type RequestLine, readRequestLines } from "./request-lines.ts";

async function* give(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* chunks;
}

async function read(chunks: readonly Uint8Array[], limit = 100): Promise<RequestLine[]> {
  return await Array.fromAsync(readRequestLines(give(chunks), { limit }));
}

const line = (text: string) => ({ kind: "line", text });

test("lines are the same wherever the chunks end", async () => {
  const Lines = fc.array(fc.string({ unit: "grapheme", maxLength: 8 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(Lines, fc.integer({ min: 1, max: 7 }), async (given, size) => {
      const texts = given.map((text) => text.replaceAll("\n", " "));
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await read(chunks)).toEqual(texts.map((text) => line(text)));
    }),
  );
});

test("the last line counts without its newline too", async () => {
  expect(await read([Buffer.from("a\nb")])).toEqual([line("a"), line("b")]);
  expect(await read([])).toEqual([]);
});

test("a line may be as long as the limit, and a longer one is left out alone", async () => {
  const most = "x".repeat(100);
  const chunks = [Buffer.from(`${most}\n${most}`), Buffer.from(`y${most}\nz\n${most}y`)];
  expect(await read(chunks)).toEqual([
    line(most),
    { kind: "too_long" },
    line("z"),
    { kind: "too_long" },
  ]);
});

test("what is not UTF-8 is said to be so", async () => {
  expect(await read([Buffer.from([0xff, 0x0a, 0x61, 0x0a])])).toEqual([
    { kind: "not_utf8" },
    line("a"),
  ]);
});
