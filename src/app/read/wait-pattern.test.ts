import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openPatterns, type PatternSearch } from "./patterns.ts";
import { PatternScanner } from "./wait-pattern.ts";
import { type Found, type Scanner, TextScanner } from "./wait-scan.ts";

const WINDOW = limits.wait_window_bytes;

/** The bytes as chunks of these sizes, over and over; then the end. */
async function scanAll(
  scanner: Scanner,
  bytes: Buffer,
  sizes: readonly number[],
): Promise<Found | undefined> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? bytes.length);
    const found = await scanner.push(at, bytes.subarray(at, at + size));
    if (found !== undefined) return found;
    at += size;
  }
  return await scanner.settle({ isEnd: true });
}

const scannerOf = (search: PatternSearch, since = 0) =>
  new PatternScanner(search, { since, signal: undefined });

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

test("a text is found where it stands in the whole, wherever the bytes are cut", async () => {
  const few = fc.array(fc.constantFrom("a", "b", "ü"), { maxLength: 60 });
  const needle = fc.array(fc.constantFrom("a", "b", "ü"), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(few, needle, sizes, async (parts, wanted, cuts) => {
      const bytes = Buffer.from(parts.join(""));
      const text = wanted.join("");
      const at = bytes.indexOf(text);
      const found = await scanAll(new TextScanner(text), bytes, cuts);
      const end = at + Buffer.byteLength(text);
      expect(found).toEqual(at < 0 ? undefined : { offset: at, end, text });
    }),
    { numRuns: 500 },
  );
});

test("a text that has begun at the end is where a next look begins", async () => {
  const scanner = new TextScanner("abab");
  await scanner.push(10, Buffer.from("xxab"));
  expect(scanner.resume).toBe(12);
  await scanner.push(14, Buffer.from("x"));
  expect(scanner.resume).toBe(15);
});

test("nothing matches across a gap", async () => {
  using patterns = openPatterns();
  for (const scanner of [new TextScanner("ab"), scannerOf(await patterns.create("ab"))]) {
    await scanner.push(0, Buffer.from("a"));
    await scanner.settle({ isEnd: true });
    expect(await pushAndSettle(scanner, 5, "b")).toBeUndefined();
    expect(await pushAndSettle(scanner, 6, "ab")).toEqual({ offset: 6, end: 8, text: "ab" });
  }
});

async function pushAndSettle(scanner: Scanner, offset: number, text: string) {
  const found = await scanner.push(offset, Buffer.from(text));
  return found ?? (await scanner.settle({ isEnd: false }));
}

test("a pattern is found where it stands in the whole text, wherever the bytes are cut", async () => {
  using patterns = openPatterns();
  const part = fc.constantFrom("a", "b", "\n", "ü", "€", "😀", " ");
  const source = fc.constantFrom("a+b", "^b$", "ü.", "ü*€", "\\bb", "😀+", "[^a]{3}", "b|a");
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 60 }),
      source,
      sizes,
      async (parts, wanted, cuts) => {
        const text = parts.join("");
        const match = new RegExp(wanted, "mu").exec(text);
        const found = await scanAll(
          scannerOf(await patterns.create(wanted)),
          Buffer.from(text),
          cuts,
        );
        const offset = Buffer.byteLength(text.slice(0, match?.index ?? 0));
        const end = offset + Buffer.byteLength(match?.[0] ?? "");
        expect(found).toEqual(match === null ? undefined : { offset, end, text: match[0] });
      },
    ),
    { numRuns: 100 },
  );
});

test.each([
  ["at the edge of a window", WINDOW - 3, 6],
  ["at the edge of half a window", WINDOW / 2 - 3, 6],
  ["in the third window", 2 * WINDOW + 1, 6],
  ["half a window long", WINDOW - 7, WINDOW / 2 - 10],
])("a match %s is found, with characters of two bytes around", async (_, place, length) => {
  using patterns = openPatterns();
  const before = "ü".repeat(Math.ceil(place / 2));
  const match = `<${"x".repeat(length - 2)}>`;
  const bytes = Buffer.from(`${before}${match}${"ü".repeat(WINDOW)}`);
  const offset = Buffer.byteLength(before);
  const scanner = scannerOf(await patterns.create("<x*>"));
  expect(await scanAll(scanner, bytes, [60_001])).toEqual({
    offset,
    end: offset + length,
    text: match,
  });
});

test("the edge of a window is no end and no start of a line", async () => {
  using patterns = openPatterns();
  const bytes = Buffer.from(`a${"x".repeat(3 * WINDOW)}\nx`);
  const find = async (pattern: string) =>
    await scanAll(scannerOf(await patterns.create(pattern)), bytes, [65_536]);
  expect(await find("x$")).toMatchObject({ offset: 3 * WINDOW });
  expect(await find("^x")).toMatchObject({ offset: 3 * WINDOW + 2 });
});

test("a match is as long as it is in the whole, though a window ends within", async () => {
  using patterns = openPatterns();
  const bytes = Buffer.from(`${" ".repeat(WINDOW - 10)}${"7".repeat(1000)} `);
  const found = await scanAll(scannerOf(await patterns.create("7+")), bytes, [4096]);
  expect(found).toMatchObject({ offset: WINDOW - 10, end: WINDOW + 990 });
});

test("what stands before the place to look from is context, not a match", async () => {
  using patterns = openPatterns();
  const bytes = Buffer.from("one two\none");
  expect(await scanAll(scannerOf(await patterns.create("^\\w+"), 4), bytes, [3])).toMatchObject({
    offset: 8,
  });
});

test("at the tail a match counts at once, but half a character is not looked at", async () => {
  using patterns = openPatterns();
  const scanner = scannerOf(await patterns.create("[^a]"));
  const euro = Buffer.from("€");
  await scanner.push(0, Buffer.concat([Buffer.from("a"), euro.subarray(0, 2)]));
  expect(await scanner.settle({ isEnd: false })).toBeUndefined();
  await scanner.push(3, euro.subarray(2));
  expect(await scanner.settle({ isEnd: false })).toEqual({ offset: 1, end: 4, text: "€" });
});

test("bytes are searched about twice in history, and the window stays as large as it may be", async () => {
  let searched = 0;
  let largest = 0;
  const search: PatternSearch = {
    windowBytes: WINDOW,
    find: async ({ bytes, from }) => {
      searched += bytes.length - from;
      largest = Math.max(largest, bytes.length);
      return undefined;
    },
  };
  const total = 64 * 1024 * 1024;
  const scanner = scannerOf(search);
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (let at = 0; at < total; at += chunk.length) await scanner.push(at, chunk);
  await scanner.settle({ isEnd: false });
  expect(searched).toBeLessThan(2.1 * total);
  expect(largest).toBeLessThanOrEqual(WINDOW);
  expect(scanner.covered).toBeLessThanOrEqual(WINDOW / 2);
});

test("a large pattern has a smaller window, in which matches of a few thousand bytes are found", async () => {
  using patterns = openPatterns();
  const search = await patterns.create("<.{0,900}>");
  expect(search.windowBytes).toBe(8192);
  const match = `<${"x".repeat(900)}>`;
  const bytes = Buffer.from(`${"y".repeat(20_000)}${match}${"y".repeat(20_000)}`);
  expect(await scanAll(scannerOf(search), bytes, [5000])).toMatchObject({ offset: 20_000 });
});
