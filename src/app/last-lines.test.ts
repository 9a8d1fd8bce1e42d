import fc from "fast-check";
import { expect, test } from "vitest";
import { findLastLines, type PrintedOutput } from "./last-lines.ts";

/** A log whose first bytes are gone; counts how much of it was read. */
function printed(text: string, first = 0) {
  const bytes = Buffer.from(text);
  const seen = { bytes: 0 };
  const output: PrintedOutput = {
    first,
    tail: bytes.length,
    async *read(from, to) {
      // In pieces, and also what nobody asked for: a server answers with whole ranges.
      for (let at = from; at < to; at += 1000) {
        const piece = bytes.subarray(at, at + 1000);
        seen.bytes += piece.length;
        yield { offset: at, bytes: piece };
      }
    },
  };
  return { output, seen };
}

test("the last lines begin behind the newline before them", async () => {
  const { output } = printed("one\ntwo\nthree\n");
  const starts = [0, 1, 2, 3, 4].map((count) => findLastLines(output, count));
  expect(await Promise.all(starts)).toEqual([14, 8, 4, 0, 0]);
});

test("a last line without its end counts, and so does an empty one", async () => {
  expect(await findLastLines(printed("one\ntwo").output, 1)).toBe(4);
  expect(await findLastLines(printed("one\n\n").output, 1)).toBe(4);
  expect(await findLastLines(printed("").output, 1)).toBe(0);
});

test("nothing is looked for before what is kept", async () => {
  expect(await findLastLines(printed("one\ntwo\nthree\n", 5).output, 9)).toBe(5);
});

test("as the lines of the text itself, however long they are", async () => {
  const line = fc.integer({ min: 0, max: 40_000 }).map((length) => "x".repeat(length));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.nat(9), async (lines, count) => {
      const text = lines.map((each) => `${each}\n`).join("");
      const kept = lines.slice(Math.max(0, lines.length - count)).map((each) => `${each}\n`);
      const start = await findLastLines(printed(text).output, count);
      expect(text.length - start).toBe(kept.join("").length);
    }),
  );
});

test("of a long log only the end is read", async () => {
  const { output, seen } = printed("0123456789abcde\n".repeat(100_000));
  expect(await findLastLines(output, 10)).toBe(1_600_000 - 160);
  expect(seen.bytes).toBeLessThan(20_000);
});
