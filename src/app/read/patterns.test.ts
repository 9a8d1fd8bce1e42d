import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openPatterns, type PatternSearch, type Patterns } from "./patterns.ts";

const HOSTILE = "(a+)+$";

const find = async (patterns: Patterns, pattern: string, text: string | Buffer) =>
  await findFrom(await patterns.create(pattern), 0, text);

const findFrom = (search: PatternSearch, from: number, text: string | Buffer) =>
  search.find({ bytes: Buffer.from(text), from });

test("a match is told in bytes, behind characters of any length", async () => {
  using patterns = openPatterns();
  expect(await find(patterns, "b.d", "ü€😀bcd")).toEqual({ start: 9, end: 12, text: "bcd" });
  expect(await find(patterns, "nothing", "ü€😀bcd")).toBeUndefined();
});

test("what is before the place to look from is seen as context only", async () => {
  using patterns = openPatterns();
  expect(await findFrom(await patterns.create("^b"), 1, "ab\nb")).toMatchObject({
    start: 3,
    end: 4,
  });
  expect(await findFrom(await patterns.create("\\bb"), 1, "ab b")).toMatchObject({
    start: 3,
    end: 4,
  });
  expect(await findFrom(await patterns.create("a"), 1, "ab")).toBeUndefined();
});

test("offsets are those of the whole text, also around bytes that are no text", async () => {
  using patterns = openPatterns();
  const piece = fc.oneof(
    fc.constantFrom("a", "ab", "ü", "€", "😀", "\n").map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 3 }).map((some) => Buffer.from(some)),
  );
  const pattern = fc.constantFrom("ab?", "ü+", "€.", "😀", "^a", "[^a]a$", "\\ufffd+a", "😀|b");
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), pattern, async (parts, source) => {
      const bytes = Buffer.concat(parts);
      const hit = await find(patterns, source, bytes);
      const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
      const match = new RegExp(source, "mu").exec(decoder().decode(bytes));
      expect(hit?.text).toBe(match?.[0]);
      if (hit === undefined || match === null) return;
      expect(decoder().decode(bytes.subarray(0, hit.start))).toHaveLength(match.index);
      expect(decoder().decode(bytes.subarray(hit.start, hit.end))).toBe(match[0]);
    }),
    { numRuns: 60 },
  );
});

test("a pattern of the older kind works without whole characters", async () => {
  using patterns = openPatterns();
  expect(await find(patterns, "\\-b", "a-b")).toMatchObject({ start: 1, end: 3 });
});

test("a carriage return ends a line, unless the pattern names it", async () => {
  using patterns = openPatterns();
  expect(await find(patterns, "^ready.*$", "not ready\r\nready now\r\nx")).toMatchObject({
    text: "ready now",
  });
  expect(await find(patterns, "50%$", "50%\r51%")).toMatchObject({ start: 0 });
  expect(await find(patterns, "a\\r\\nb", "a\r\nb")).toMatchObject({ text: "a\r\nb" });
});

test("what is not a pattern is refused by the name of the field", async () => {
  using patterns = openPatterns();
  await expect(patterns.create("(")).rejects.toMatchObject({
    code: "invalid_request",
    message: "pattern: missing closing ): `(`",
    details: { field: "pattern" },
  });
  await expect(patterns.create("(?:(?:a{0,100}){9}){9}")).rejects.toMatchObject({
    message: expect.stringMatching(/^pattern: invalid repeat count/),
  });
  await expect(patterns.create("\\w{900}\\w{900}\\w{900}")).rejects.toMatchObject({
    message: expect.stringMatching(/^pattern: it is too large: 27\d\d steps/),
  });
});

test("a pattern that a backtracking engine never ends on is answered", async () => {
  using patterns = openPatterns();
  const text = Buffer.from(`${"a".repeat(200_000)}!`);
  expect(await find(patterns, HOSTILE, text)).toBeUndefined();
  expect(await find(patterns, "a!", text)).toMatchObject({ start: 199_999, end: 200_001 });
});

test("a search with little text goes before many with much", async () => {
  using patterns = openPatterns();
  const text = Buffer.from(`${"a".repeat(200_000)}!`);
  const searches = await Promise.all(Array.from({ length: 20 }, () => patterns.create(HOSTILE)));
  let done = 0;
  const hostile = searches.map(async (search) => {
    await search.find({ bytes: text, from: 0 });
    done += 1;
  });
  expect(await findFrom(await patterns.create("!"), 0, "little!")).toMatchObject({ start: 6 });
  expect(done).toBeLessThan(3);
  await Promise.all(hostile);
});

test("an aborted search leaves the queue at once", async () => {
  using patterns = openPatterns();
  const search = await patterns.create("x");
  const leaving = new AbortController();
  const gone = search.find({ bytes: Buffer.from("y"), from: 0 }, leaving.signal);
  expect(patterns.waiting).toBe(1);
  leaving.abort(new Error("left"));
  expect(patterns.waiting).toBe(0);
  await expect(gone).rejects.toThrow("left");
});

test("the queue is bounded, and whoever is in it hears of the end", async () => {
  const patterns = openPatterns();
  const search = await patterns.create("x");
  const ask = async () => await search.find({ bytes: Buffer.from("y"), from: 0 });
  const asked = Array.from({ length: limits.waits }, () => ask().catch((error: unknown) => error));
  await expect(ask()).rejects.toMatchObject({ code: "too_many" });
  patterns[Symbol.dispose]();
  expect((await Promise.all(asked)).at(-1)).toMatchObject({ code: "shutting_down" });
  await expect(ask()).rejects.toMatchObject({ code: "shutting_down" });
});
