import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openPatterns, type PatternSearch, type Patterns } from "./patterns.ts";

const HOSTILE = "(a+)+$";
const hostileText = Buffer.from(`${"a".repeat(60)}!`);

const find = (patterns: Patterns, pattern: string, text: string | Buffer) =>
  findFrom(patterns.create(pattern), 0, text);

const findFrom = (search: PatternSearch, from: number, text: string | Buffer) =>
  search.find({ bytes: Buffer.from(text), from });

test("a match is told in bytes, behind characters of any length", async () => {
  using patterns = openPatterns();
  expect(await find(patterns, "b.d", "ü€😀bcd")).toEqual({ start: 9, end: 12, text: "bcd" });
  expect(await find(patterns, "nothing", "ü€😀bcd")).toBeUndefined();
});

test("what is before the place to look from is seen as context only", async () => {
  using patterns = openPatterns();
  expect(await findFrom(patterns.create("^b"), 1, "ab\nb")).toMatchObject({ start: 3, end: 4 });
  expect(await findFrom(patterns.create("(?<=a)b"), 1, "ab")).toMatchObject({ start: 1, end: 2 });
  expect(await findFrom(patterns.create("a"), 1, "ab")).toBeUndefined();
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

test("what is no pattern is refused by the name of the field", () => {
  using patterns = openPatterns();
  expect(() => patterns.create("(")).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      message: expect.stringMatching(/^pattern: .*group/),
    }),
  );
});

test("a hostile pattern is stopped and said to be too slow", async () => {
  using patterns = openPatterns();
  await expect(find(patterns, HOSTILE, hostileText)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("too slow"),
    details: { field: "pattern" },
  });
  expect(await find(patterns, "a!", hostileText)).toMatchObject({ start: 59, end: 61 });
});

test("decent searches are answered while hostile ones still try", async () => {
  using patterns = openPatterns();
  let refused = 0;
  const hostile = Array.from({ length: 10 }, () =>
    find(patterns, HOSTILE, hostileText).catch(() => {
      refused += 1;
    }),
  );
  for (let round = 0; round < 5; round += 1)
    expect(await find(patterns, "!", hostileText)).toMatchObject({ start: 60 });
  expect(refused).toBe(0);
  patterns[Symbol.dispose]();
  await Promise.all(hostile);
});

test("a search that nobody waits for any more leaves the queue at once", async () => {
  using patterns = openPatterns();
  const bytes = hostileText;
  const first = find(patterns, HOSTILE, hostileText).catch((error: unknown) => error);
  const leaving = new AbortController();
  const second = patterns.create("x").find({ bytes, from: 0 }, leaving.signal);
  expect(patterns.waiting).toBe(1);
  leaving.abort(new Error("left"));
  expect(patterns.waiting).toBe(0);
  await expect(second).rejects.toThrow("left");
  patterns[Symbol.dispose]();
  expect(await first).toMatchObject({ code: "shutting_down" });
});

test("a pattern that makes more code than can be held is refused", async () => {
  using patterns = openPatterns();
  const heavy = `(?:${"(?:[^\\u0061]{0,1000}){1000}".repeat(20)})*z`;
  await expect(find(patterns, heavy, "b".repeat(1000))).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect(await find(patterns, "b", "ab")).toMatchObject({ start: 1 });
});

test("the queue is bounded", async () => {
  using patterns = openPatterns();
  const asked = Array.from({ length: limits.waits + 1 }, () =>
    find(patterns, HOSTILE, hostileText).catch((error: unknown) => error),
  );
  await waitFor("a full queue", () => patterns.waiting === limits.waits);
  await expect(find(patterns, "a", "a")).rejects.toMatchObject({ code: "too_many" });
  patterns[Symbol.dispose]();
  expect(await Promise.all(asked)).toHaveLength(limits.waits + 1);
});
