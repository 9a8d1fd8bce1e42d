import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleOf, wholeOf } from "#test/harness/screen-compare.ts";
import { type Step, step } from "#test/harness/screen-sequences.ts";
import { Emulator } from "./emulator.ts";
import { cellAt } from "./emulator-core.ts";
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

test("a painted terminal has the links, also those in the scrollback and the one that is open", () => {
  using first = openEmulator();
  const file = (name: string) => `\x1b]8;id=${name};file:///tmp/${name}\x1b\\${name}\x1b]8;;\x1b\\`;
  for (let row = 0; row < 20; row += 1) first.write(`${file(`a${row}`)} ${file("same")}\r\n`);
  first.write("\x1b]8;;http://open\x07");
  using copy = openFromSnapshot(unpackSnapshot(packSnapshot(takeSnapshot(first, false))));
  using painted = openEmulator();
  painted.write(encodeState(copy));
  for (const one of [first, painted]) one.write("more");
  expect(visibleOf(painted)).toEqual(visibleOf(first));
  const { lines } = painted.core._bufferService.buffers.normal;
  const linked = [0, 19, 20]
    .map((row) => lines.get(row))
    .map((line) => line && cellAt(line, 0).link);
  expect(linked.map((number) => painted.links.find(number ?? 0))).toEqual([
    { id: "a0", address: "file:///tmp/a0" },
    { id: "a19", address: "file:///tmp/a19" },
    { id: "", address: "http://open" },
  ]);
});

test("a snapshot without links, as an older version wrote it, is read", () => {
  using first = openEmulator();
  first.write("\x1b[4:3mwavy\x1b[0m and \x1b]2;title\x07more");
  const { links: _links, link: _link, dropped: _dropped, ...old } = takeSnapshot(first, false);
  const withoutLinks = ({ lines, ...buffer }: typeof old.normal) => ({
    ...buffer,
    lines: lines.map(({ links: _, ...line }) => line),
  });
  const packed = packSnapshot({
    ...old,
    normal: withoutLinks(old.normal),
    alternate: withoutLinks(old.alternate),
  });
  using second = openFromSnapshot(unpackSnapshot(packed));
  for (const one of [first, second]) one.write("\x1b]8;;http://a\x07link");
  expect(wholeOf(second)).toEqual(wholeOf(first));
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
