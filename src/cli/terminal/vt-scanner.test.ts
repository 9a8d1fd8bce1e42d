import fc from "fast-check";
import { expect, test } from "vitest";
import { SEQUENCE_BYTES, VtScanner } from "./vt-scanner.ts";

interface Scan {
  /** Plain runs that follow each other are one: where they are cut depends on the chunks. */
  readonly pieces: readonly string[];
  readonly text: string;
}

function scan(chunks: readonly string[], { end = false } = {}): Scan {
  const pieces: { kind: "plain" | "sequence"; text: string }[] = [];
  const add = (kind: "plain" | "sequence") => (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString("latin1");
    const last = pieces.at(-1);
    if (kind === "plain" && last?.kind === "plain") last.text += text;
    else pieces.push({ kind, text });
  };
  const scanner = new VtScanner({ plain: add("plain"), sequence: add("sequence") });
  for (const chunk of chunks) scanner.push(Buffer.from(chunk, "latin1"));
  if (end) scanner.end();
  return {
    pieces: pieces.map(({ kind, text }) => (kind === "plain" ? text : `<${text}>`)),
    text: pieces.map(({ text }) => text).join(""),
  };
}

/** Random bytes hardly ever make a sequence, so most of them are what sequences are made of. */
const terminalByte = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(..."\x1b\x1b[]P_\\\x07\x18\x05;?05cmn$q(") },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
  },
);
const output = fc.array(terminalByte, { maxLength: 120 }).map((bytes) => bytes.join(""));
const cuts = fc.array(fc.nat({ max: 120 }), { maxLength: 12 });

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.filter((at) => at < text.length).toSorted((a, b) => a - b)];
  return sorted.map((from, index) => text.slice(from, sorted[index + 1]));
}

test("nothing is lost, doubled or moved, and what is held is one open sequence", () => {
  fc.assert(
    fc.property(output, cuts, (text, places) => {
      const { text: seen } = scan(cut(text, places));
      const held = text.slice(seen.length);
      expect(seen).toBe(text.slice(0, seen.length));
      expect(held === "" || held.startsWith("\x1b")).toBe(true);
      expect(scan([held]).text).toBe("");
    }),
    { numRuns: 2000 },
  );
});

test("where the chunks are cut makes no difference", () => {
  fc.assert(
    fc.property(output, cuts, (text, places) => {
      expect(scan(cut(text, places)).pieces).toEqual(scan([text]).pieces);
    }),
    { numRuns: 2000 },
  );
});

test("the end passes on what is held", () => {
  fc.assert(
    fc.property(output, cuts, (text, places) => {
      expect(scan(cut(text, places), { end: true }).text).toBe(text);
    }),
  );
});

test.each([
  ["colours", "a\x1b[31mb", ["a", "<\x1b[31m>", "b"]],
  ["two bytes", "\x1b7x", ["<\x1b7>", "x"]],
  ["an intermediate byte", "\x1b(0x", ["<\x1b(0>", "x"]],
  ["a title that ends with BEL", "\x1b]0;t\x07x", ["<\x1b]0;t\x07>", "x"]],
  ["a title that ends with ST", "\x1b]0;t\x1b\\x", ["<\x1b]0;t\x1b\\>", "x"]],
  ["a string in which BEL is data", "\x1bPq\x07x\x1b\\y", ["<\x1bPq\x07x\x1b\\>", "y"]],
  ["enquiry", "a\x05b", ["a", "<\x05>", "b"]],
  ["one that is cancelled", "\x1b[3\x18m", ["<\x1b[3\x18>", "m"]],
  ["one that another interrupts", "\x1b[3\x1b[6nx", ["<\x1b[3>", "<\x1b[6n>", "x"]],
  ["a title without an end", "\x1b]0;t\x1b[6nx", ["<\x1b]0;t>", "<\x1b[6n>", "x"]],
  ["ESC twice", "\x1b\x1b[6nx", ["<\x1b>", "<\x1b[6n>", "x"]],
])("cuts out %s", (_name, text, pieces) => {
  expect(scan([text]).pieces).toEqual(pieces);
  expect(scan([...text]).pieces).toEqual(pieces);
});

test("a sequence without an end is given up at its bound, and the next one is seen", () => {
  const endless = `\x1b]0;${"x".repeat(SEQUENCE_BYTES)}`;
  const { pieces, text } = scan([endless, "y\x1b[6n"]);
  expect(text).toBe(`${endless}y\x1b[6n`);
  expect(pieces).toEqual([`${endless}y`, "<\x1b[6n>"]);
});

test("a sequence of just the longest size is kept whole, a longer one is not", () => {
  const longest = `\x1b]0;${"x".repeat(SEQUENCE_BYTES - 5)}\x07`;
  expect(scan([longest]).pieces).toEqual([`<${longest}>`]);
  const longer = `\x1b]0;${"x".repeat(SEQUENCE_BYTES - 4)}\x07`;
  expect(scan([longer]).pieces).toEqual([longer]);
});
