import fc from "fast-check";
import { expect, test } from "vitest";
import { piece } from "#test/harness/screen-sequences.ts";
import { Emulator } from "./emulator.ts";
import { RestFinder } from "./rest-finder.ts";

const START = 1000;

test("finds the last place at which nothing is unfinished, in whatever parts it is fed", () => {
  const cuts = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 20 }), cuts, (pieces, at) => {
      const bytes = Buffer.from(pieces.join(""));
      const ends = at.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
      using finder = new RestFinder(START);
      using emulator = openEmulator();
      let from = 0;
      for (const end of ends) {
        const part = bytes.subarray(from, end);
        if (part.length === 0) continue;
        emulator.write(part);
        if (emulator.isAtRest) finder.settle(START + end);
        else finder.hold(part);
        from = end;
      }
      expect(finder.find()).toBe(START + lastRest(bytes.subarray(0, from)));
    }),
    { seed: 3, numRuns: 400 },
  );
});

test("holds no more than a bound, and still knows where a long string began", () => {
  using finder = new RestFinder(0);
  finder.hold(Buffer.from("text\x1b]2;"));
  for (let part = 0; part < 40; part += 1) finder.hold(Buffer.alloc(64 * 1024, "x"));
  expect(finder.heldBytes).toBeLessThanOrEqual(1024 * 1024);
  expect(finder.find()).toBe(4);
});

/** Byte by byte, as slowly as it is sure. */
function lastRest(bytes: Uint8Array): number {
  using emulator = openEmulator();
  let rest = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    emulator.write(bytes.subarray(at, at + 1));
    if (emulator.isAtRest) rest = at + 1;
  }
  return rest;
}

function openEmulator(): Emulator {
  return new Emulator({ size: { cols: 20, rows: 5 }, convertEol: false });
}
