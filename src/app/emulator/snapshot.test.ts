import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleOf, wholeOf } from "#test/harness/screen-compare.ts";
import { type Step, step } from "#test/harness/screen-sequences.ts";
import { Emulator } from "./emulator.ts";
import { openFromSnapshot, takeSnapshot } from "./snapshot.ts";
import { packSnapshot, unpackSnapshot } from "./snapshot-codec.ts";
import { encodeState } from "./state.ts";

const SIZE = { cols: 17, rows: 6 };
const RUNS = 600;

test("an emulator goes on from a snapshot as the first one does, wherever it is cut", () => {
  const cut = fc.array(step, { maxLength: 60 });
  fc.assert(
    fc.property(cut, cut, (before, after) => {
      using first = openEmulator();
      play(first, before);
      if (!first.isAtRest) return;
      using second = openFromSnapshot(unpackSnapshot(packSnapshot(takeSnapshot(first, false))));
      expect(wholeOf(second)).toEqual(wholeOf(first));
      play(first, after);
      play(second, after);
      expect(wholeOf(second)).toEqual(wholeOf(first));
    }),
    { seed: 1, numRuns: RUNS },
  );
});

test("a state paints a fresh terminal with all that sequences can say, and asks it nothing", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      using first = openEmulator();
      play(first, steps);
      using painted = new Emulator({ size: first.size, convertEol: false });
      painted.terminal.options.disableStdin = false;
      const said: string[] = [];
      painted.terminal.onData((data) => said.push(data));
      painted.write(encodeState(first));
      expect(visibleOf(painted)).toEqual(visibleOf(first));
      expect(said).toEqual([]);
    }),
    { seed: 2, numRuns: RUNS },
  );
});

test("a row that a coloured line wrapped into is painted to its end", () => {
  using first = openEmulator();
  first.write(`\x1b[44m${"x".repeat(20)}\x1b[K`);
  using painted = openEmulator();
  painted.write(encodeState(first));
  expect(visibleOf(painted)).toEqual(visibleOf(first));
});

function openEmulator(): Emulator {
  return new Emulator({ size: SIZE, convertEol: false });
}

function play(emulator: Emulator, steps: readonly Step[]): void {
  for (const one of steps) {
    if (one.kind === "print") emulator.write(Buffer.from(one.text));
    else emulator.resize(one);
  }
}
