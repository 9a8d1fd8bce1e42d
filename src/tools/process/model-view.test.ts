import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { channels } from "#contract/channels.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { SEGMENT_BYTES } from "#log/segment-files.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { type ModelRange, type ModelView, viewForModel } from "./model-view.ts";

const BUDGET = 32 * 1024;
const SMALL = 1024;

/** Bytes, or a number of bytes that are lost. */
type Printed = string | Uint8Array | number;

function openPrinted(printed: readonly Printed[], options: { retainBytes?: number } = {}) {
  using stack = new DisposableStack();
  const dir = join(stack.use(openTempDir()).path, "log");
  const writer = stack.use(openLogWriter({ dir, clock: new ManualClock(), ...options }));
  for (const piece of printed) {
    if (typeof piece === "number") writer.skip(piece);
    else writer.append(channels.stdout, Buffer.from(piece));
  }
  expect(writer.settle()).toBe(true);
  const source = stack.use(openLogFiles(dir));
  const owned = stack.move();
  return { source, [Symbol.dispose]: () => owned.dispose() };
}

function view(printed: readonly Printed[], range: Partial<ModelRange> = {}): ModelView {
  using log = openPrinted(printed);
  return viewForModel(log.source, { from: 0, to: log.source.tail(), ...range });
}

function textOf(...printed: readonly Printed[]): string {
  return view(printed).text;
}

/** Ends with a line of its own, is exactly so long and has no broken character. */
function fill(unit: string, size: number): Buffer {
  const last = "\nthe last line\n";
  const unitBytes = Buffer.byteLength(unit);
  const units = Math.floor((size - last.length) / unitBytes);
  const padding = "x".repeat(size - last.length - units * unitBytes);
  return Buffer.from(padding + unit.repeat(units) + last);
}

const MARKER = /\[\.\.\. (\d+) bytes omitted; read them from offset (\d+) \.\.\.\]\n/;

/** The parts of the output that a cut view says it shows. */
function partsOf({ truncated, next }: ModelView, all: Buffer): [Buffer, Buffer] {
  if (truncated === undefined) throw new Error("nothing was omitted");
  const { original_bytes, retained_bytes, omitted_bytes, spool_offset } = truncated;
  expect(retained_bytes + omitted_bytes).toBe(original_bytes);
  const start = next - original_bytes;
  expect(all.length).toBe(next);
  return [all.subarray(start, spool_offset), all.subarray(spool_offset + omitted_bytes)];
}

const SIZES = [16383, 16384, 16385, 32767, 32768, 32769, 1024 * 1024];
const UNITS = ["a", "ab cd\n", "é", "€", "😀", "€uro\n", "\x1b[31mred\x1b[0m 😀\n"];
const table = SIZES.flatMap((size) => UNITS.map((unit) => ({ size, unit })));

test.each(table)("$size bytes of $unit are shown whole, or as their head and tail", (row) => {
  const all = fill(row.unit, row.size);
  expect(all.length).toBe(row.size);
  const shown = view([all]);
  expect(shown).toMatchObject({ next: row.size, lost_bytes: 0, isBinary: false });
  expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(BUDGET);
  expect(shown.text).toMatch(/(^|\n)the last line\n$/);
  expect(shown.text).not.toContain("\uFFFD");
  const plain = (bytes: Buffer) => bytes.toString().replaceAll(/\x1b\[\d+m/g, "");
  if (row.size <= BUDGET) {
    expect(shown.text).toBe(plain(all));
    expect(shown.truncated).toBeUndefined();
    return;
  }
  const [head, tail] = partsOf(shown, all);
  expect(shown.truncated).toMatchObject({ original_bytes: row.size, strategy: "head_tail" });
  const [before, omitted, offset, after] = shown.text.split(MARKER);
  expect([before, after]).toEqual([plain(head).replace(/\n?$/, "\n"), plain(tail)]);
  expect([omitted, offset]).toEqual([
    String(shown.truncated?.omitted_bytes),
    String(shown.truncated?.spool_offset),
  ]);
  expect(Math.min(head.length, tail.length)).toBeGreaterThan(14 * 1024);
});

test.each(SIZES)("%d random bytes are described, and nothing is lost count of", (size) => {
  const all = Buffer.alloc(size);
  for (let at = 0, seed = size; at < size; at += 1) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    all[at] = seed >>> 16;
  }
  const shown = view([all]);
  expect(shown).toMatchObject({
    isBinary: true,
    next: size,
    truncated: {
      original_bytes: size,
      retained_bytes: 256,
      omitted_bytes: size - 256,
      strategy: "head_tail",
      spool_offset: 256,
    },
  });
  const [title, ...lines] = shown.text.trimEnd().split("\n");
  expect(title).toBe(`[binary output, ${size} bytes; the first 256 in hexadecimal:]`);
  expect(Buffer.from(lines.join("").replaceAll(" ", ""), "hex")).toEqual(all.subarray(0, 256));
});

test("a few bytes that are no text are all shown as hexadecimal", () => {
  const shown = view([Buffer.from([0, 1, 2, 255])]);
  expect(shown.text).toBe("[binary output, 4 bytes in hexadecimal:]\n00 01 02 ff\n");
  expect(shown).toMatchObject({ isBinary: true, next: 4 });
  expect(shown.truncated).toBeUndefined();
});

test("binary output of which the beginning is lost begins behind the gap", () => {
  const shown = view([10, Buffer.from([0, 1])]);
  expect(shown.text).toBe(
    "[binary output, 12 bytes; 2 from offset 10 on in hexadecimal:]\n00 01\n",
  );
  expect(shown).toMatchObject({ isBinary: true, lost_bytes: 10 });
  expect(shown.truncated).toMatchObject({ retained_bytes: 2, omitted_bytes: 10, spool_offset: 0 });
});

test.each([
  ["a NUL in the beginning", Buffer.from(`${"text\n".repeat(100)}\0`), true],
  ["a NUL far behind it", Buffer.from(`${"text\n".repeat(2000)}\0`), false],
  ["a tenth of wrong bytes", Buffer.from(`${"ninechars\xff".repeat(100)}`, "latin1"), false],
  ["more of them", Buffer.from(`${"ninechar\xff".repeat(100)}`, "latin1"), true],
  ["as many control characters", Buffer.from("ninechar\x01".repeat(100)), true],
  ["many colours", Buffer.from("\x1b[1m!\x1b[m\x0f\r\n".repeat(100)), false],
  ["two accents of another encoding", Buffer.from("d\xe9j\xe0 vu", "latin1"), false],
])("%s: binary or not", (_what, bytes, isBinary) => {
  expect(view([bytes]).isBinary).toBe(isBinary);
});

test.each([
  ["colours", "\x1b[1;31mred\x1b[0m\n", "red\n"],
  ["a progress bar", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
  ["a line that is cleared first", "10%\r\x1b[K100%\r\n", "100%\n"],
  ["backspaces", "lx\bs\n", "ls\n"],
  ["a title", "\x1b]0;title\x07text", "text"],
  ["other controls", "a\x07\x01b\x7fc", "abc"],
  ["bytes that are no UTF-8", Buffer.from("d\xe9j\xe0 vu", "latin1"), "d\uFFFDj\uFFFD vu"],
  ["a title without an end", "\x1b]0;title\nBUILD FAILED\n", "\nBUILD FAILED\n"],
  ["a sequence without an end", "\x1b[12\nBUILD FAILED\n", "\nBUILD FAILED\n"],
  ["nothing at all", "", ""],
])("%s", (_what, printed, text) => {
  expect(textOf(printed)).toBe(text);
});

test("cuts at the end of a line when one is near", () => {
  const all = Buffer.from("a line of thirty-two characters\n".repeat(4000));
  const shown = view([all]);
  const [head, tail] = partsOf(shown, all);
  expect([head.at(-1), tail.length % 32]).toEqual([0x0a, 0]);
});

test("a last line that is longer than the tail ends as it does", () => {
  const all = Buffer.from(`first\n${"€".repeat(50_000)}the end`);
  const shown = view([all]);
  const [head, tail] = partsOf(shown, all);
  expect(shown.text.endsWith(tail.toString())).toBe(true);
  expect(tail.toString()).toMatch(/^€{5000,}the end$/);
  expect(head.toString()).toMatch(/^first\n€{5000,}$/);
});

test("a short last line behind a very long one is there, with what comes before it", () => {
  const shown = view([`${"x".repeat(100_000)}\nexit status 1\n`]);
  expect(shown.text).toMatch(/\nx{10000,}\nexit status 1\n$/);
});

test.each([
  ["\x1b[38;5;1mred\x1b]8;;url\x1b\\", /\x1b\[[\d;]*$|\x1b[^m]*\x1b?$/],
  ["\u009b38;5;1mred\u009d8;;url\u009c", /\u009b[\d;]*$|\u009d[^\u009c]*$/],
])("neither part of %j again and again is cut inside of a sequence", (unit, unfinished) => {
  for (let shift = 0; shift < Buffer.byteLength(unit); shift += 1) {
    const all = Buffer.from(`${"y".repeat(shift)}${unit.repeat(500)}end`);
    const shown = view([all], { budget: SMALL });
    expect(shown.text.replace(MARKER, "")).toMatch(/^y*[red]+\n[red]+end$/);
    const [head] = partsOf(shown, all);
    // What is omitted can be read from there on.
    expect(head.toString().replace(/\x1b\\$/, "m")).not.toMatch(unfinished);
  }
});

test.each([
  ["that never ends", `\x1b]0;${"z".repeat(600)}BUILD FAILED\n`, /z{100,}BUILD FAILED\n$/],
  ["that began long before", `\x1b]0;${"z".repeat(5000)}BUILD FAILED\n`, /z{100,}BUILD FAILED\n$/],
  ["that ends near the end", `\x1b]0;${"z".repeat(600)}\x07BUILD FAILED\n`, /\]\nBUILD FAILED\n$/],
])("a sequence %s does not hide the last line", (_which, end, text) => {
  expect(view([`${"x".repeat(2000)}${end}`], { budget: SMALL }).text).toMatch(text);
});

test("what grows when it becomes text is cut although its bytes would fit", () => {
  const all = Buffer.from("nineteen characters\xff".repeat(50), "latin1");
  const shown = view([all], { budget: SMALL });
  expect(all.length).toBeLessThan(SMALL);
  expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(SMALL);
  expect(partsOf(shown, all).map((part) => part.length > 300)).toEqual([true, true]);
});

test.each([
  { inside: "a character", all: "€uro", from: 1, text: "uro" },
  { inside: "a character of four bytes", all: "😀!", from: 1, text: "!" },
  { inside: "an escape sequence", all: "a\n\x1b[31mred", from: 3, text: "red" },
  { inside: "a title", all: "\x1b]0;a title\x07text", from: 6, text: "text" },
  { inside: "a line", all: "a\nb\n", from: 2, text: "b\n" },
  { inside: "a sequence without an end", all: "\x1b]0;a title", from: 6, text: "title" },
  { inside: "no sequence any more", all: "\x1b[1\n2mred", from: 4, text: "2mred" },
])("a range that begins inside of $inside shows what follows", ({ all, from, text }) => {
  const next = Buffer.byteLength(all);
  expect(view([all], { from })).toEqual({ text, next, lost_bytes: 0, isBinary: false });
});

test.each([
  { all: "a€", cut: 1, open: "a", next: 1 },
  { all: "a€", cut: 2, open: "a", next: 1 },
  { all: "a😀", cut: 1, open: "a", next: 1 },
  { all: "a€b", cut: 1, open: "a€", next: 4 },
  { all: "€", cut: 1, open: "\uFFFD", next: 2 },
])("$all without its last $cut bytes: an open end waits for them", ({ all, cut, open, next }) => {
  const bytes = Buffer.from(all);
  const shown = view([bytes.subarray(0, -cut)], { isOpen: true });
  expect(shown).toMatchObject({ text: open, next });
  expect(view([bytes.subarray(0, -cut)])).toMatchObject({ next: bytes.length - cut });
});

test("views that follow each other show each character once", () => {
  const all = Buffer.from("€😀é\n".repeat(20));
  using log = openPrinted([all]);
  for (let middle = 4; middle < all.length; middle += 1) {
    const first = viewForModel(log.source, { from: 0, to: middle, isOpen: true });
    const second = viewForModel(log.source, { from: first.next, to: all.length, isOpen: true });
    expect(first.text + second.text).toBe(all.toString());
  }
});

test("what a range hides at its start is retained", () => {
  const all = Buffer.from(`€${"x".repeat(5000)}`);
  const shown = view([all], { from: 1, budget: SMALL });
  expect(shown.text).not.toContain("\uFFFD");
  const [head, tail] = partsOf(shown, all);
  expect(shown.text.replace(MARKER, "")).toBe(`${head.subarray(2)}\n${tail}`);
});

test("what is hidden at the start of a range leaves its room to the rest", () => {
  const title = `\x1b]0;${"t".repeat(200)}\x07`;
  const all = `${title}${"x".repeat(SMALL - 150)}`;
  const shown = view([all], { from: 2, budget: SMALL });
  expect(shown).toEqual({
    text: "x".repeat(SMALL - 150),
    next: all.length,
    lost_bytes: 0,
    isBinary: false,
  });
});

test("what was lost is counted and named between what is left", () => {
  const shown = view(["before\n", 1000, "behind\n"]);
  expect(shown).toEqual({
    text: "before\n[... 1000 bytes are lost, from offset 7 on ...]\nbehind\n",
    truncated: {
      original_bytes: 1014,
      retained_bytes: 14,
      omitted_bytes: 1000,
      strategy: "head_tail",
      spool_offset: 7,
    },
    next: 1014,
    lost_bytes: 1000,
    isBinary: false,
  });
});

test("between two gaps nothing is shown", () => {
  const { text, lost_bytes, truncated } = view(["a", 10, "b", 20, Buffer.from("€c\n").subarray(1)]);
  expect(text).toBe(
    "a\n[... 31 bytes omitted, 30 of them are lost; read the others from offset 1 ...]\nc\n",
  );
  expect([lost_bytes, truncated?.retained_bytes, truncated?.omitted_bytes]).toEqual([30, 5, 31]);
});

test("a range of which nothing is left says so", () => {
  expect(view(["a", 50_000, "b"], { from: 1, to: 50_001 })).toMatchObject({
    text: "[... 50000 bytes are lost, from offset 1 on ...]\n",
    lost_bytes: 50_000,
    truncated: { original_bytes: 50_000, retained_bytes: 0, spool_offset: 1 },
  });
});

test("a short tail leaves its room to the head", () => {
  const shown = view(["x".repeat(25_000), 10, "end\n"]);
  expect(shown.truncated).toMatchObject({ omitted_bytes: 10, retained_bytes: 25_004 });
});

test("a range is cut at the tail, and one beyond it is refused", () => {
  using log = openPrinted(["text"]);
  const look = (range: ModelRange) => viewForModel(log.source, range);
  expect(look({ from: 2, to: 100 })).toMatchObject({ text: "xt", next: 4 });
  expect(look({ from: 4, to: 4 })).toEqual({ text: "", next: 4, lost_bytes: 0, isBinary: false });
  for (const from of [5, -1, 0.5, Number.NaN])
    expect(() => look({ from, to: 9 })).toThrow(
      expect.objectContaining({ code: "offset_out_of_range", details: { tail: 4, first: 0 } }),
    );
  expect(() => look({ from: 0, to: 4, budget: SMALL - 1 })).toThrow(
    expect.objectContaining({ code: "invalid_request" }),
  );
});

/** How many bytes were read in all. */
function counting(source: LogFiles): { source: LogFiles; read: () => number } {
  let sum = 0;
  const read: LogFiles["read"] = (cursor, options) => {
    const chunk = source.read(cursor, options);
    if (chunk?.kind === "bytes") sum += chunk.bytes.length;
    return chunk;
  };
  const counted: LogFiles = {
    tail: () => source.tail(),
    first: () => source.first(),
    epoch: () => source.epoch(),
    records: (from, to) => source.records(from, to),
    read,
    [Symbol.dispose]: () => source[Symbol.dispose](),
  };
  return { source: counted, read: () => sum };
}

test.each([SMALL, BUDGET])("of 200 MB no more than 4 times %d bytes is read", (budget) => {
  const line = Buffer.alloc(SEGMENT_BYTES / 4, "a line of output\n");
  using log = openPrinted(new Array(200).fill(line), { retainBytes: 4 * SEGMENT_BYTES });
  const { source, read } = counting(log.source);
  const to = source.tail();
  expect(to).toBe(200 * line.length);
  const shown = viewForModel(source, { from: 0, to, budget });
  expect(read()).toBeLessThanOrEqual(4 * budget);
  expect(shown.truncated?.original_bytes).toBe(to);
  const gap = log.source.read(SEGMENT_BYTES, { limit: 1 });
  expect(gap).toMatchObject({ kind: "gap", from: SEGMENT_BYTES });
  expect(shown.lost_bytes).toBe(gap?.kind === "gap" ? gap.to - gap.from : 0);
  expect(shown.text).toMatch(/ of them are lost; read the others from offset \d+ \.\.\.\]\n/);
});
