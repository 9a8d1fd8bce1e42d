import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SequenceFilter } from "#contract/terminal/sequence-filter.ts";
import { nextState, PRINTABLE } from "#contract/terminal/sequence-states.ts";
import { repeats } from "#test/harness/repeats.ts";

const MOST = 24;

/** Leads into each state of the parser, in the order of their numbers. */
const WAYS_IN = [
  "",
  ...["\x1b", "\x1b ", "\x1b[", "\x1b[1", "\x1b[ ", "\x1b[1?", "\x1b_"],
  ...["\x1b]", "\x1bP", "\x1bP1", "\x1bP1?", "\x1bP ", "\x1bPq"],
];

test("every transition is the one that the emulator makes", () => {
  WAYS_IN.forEach((way, state) => {
    for (let code = 0; code <= PRINTABLE; code += 1) {
      const parser = openParser();
      parser.write(Buffer.from(way));
      expect(parser.state).toBe(state);
      parser.write(Buffer.from(String.fromCharCode(code)));
      expect([way, code, nextState(state, code)]).toEqual([way, code, parser.state]);
    }
  });
});

const pieces = fc.oneof(
  fc.constantFrom("\x1b", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b[", "\x1b\\"),
  fc.constantFrom("\u009d", "\u0090", "\u009f", "\u009e", "\u0098", "\u009b", "\u009c", "\u0085"),
  fc.constantFrom("\x07", "\x18", "\x1a", "\n", "\x7f", "2;", "q", "$q", "m", "漢", "é", "😀"),
  fc.constantFrom("payload ", "x".repeat(MOST - 2), "y".repeat(MOST), "z".repeat(3 * MOST)),
);
const bytes = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: pieces.map((text) => Buffer.from(text)) },
      {
        weight: 1,
        arbitrary: fc.uint8Array({ maxLength: 4 }).map((some) => Buffer.from(some)),
      },
      { weight: 1, arbitrary: fc.constantFrom([0xc2], [0xe2, 0x82], [0xc0, 0x9d], [0xef, 0xbb]) },
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));
const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 8 });

test("however a stream is cut, the emulator gets the same and the filter is in the same state", () => {
  fc.assert(
    fc.property(bytes, cuts, (stream, places) => {
      const whole = run([stream]);
      const parts = run(split(stream, places));
      expect(effectOf(parts.passed)).toEqual(effectOf(whole.passed));
      expect(stateOf(parts.filter)).toEqual(stateOf(whole.filter));
    }),
    { seed: 1, numRuns: repeats({ few: 500, full: 2000 }) },
  );
});

test("a stream whose strings are within the limit passes unchanged", () => {
  fc.assert(
    fc.property(bytes, cuts, (stream, places) => {
      const { passed, filter } = run(split(stream, places), { most: stream.length });
      const held = stream.length - passed.length;
      expect(passed).toEqual(stream.subarray(0, passed.length));
      expect(held).toBeLessThanOrEqual(Math.min(filter.pendingBytes, 3));
    }),
    { seed: 2, numRuns: 1000 },
  );
});

test("no string that passes is longer than the limit", () => {
  fc.assert(
    fc.property(bytes, cuts, (stream, places) => {
      const { passed } = run(split(stream, places));
      const parser = openParser();
      let length = 0;
      for (const byte of passed) {
        parser.write(Uint8Array.of(byte));
        length = parser.state >= 7 ? length + 1 : 0;
        // Up to a C1 introducer that begins a string inside of a string, the bytes of both are counted here.
        if (!passed.includes(0xc2)) expect(length).toBeLessThanOrEqual(MOST + 2);
      }
    }),
    { seed: 3, numRuns: 500 },
  );
});

test("it rests exactly where the emulator does, and inside what it leaves out", () => {
  fc.assert(
    fc.property(bytes, (stream) => {
      const filter = new SequenceFilter({ most: MOST });
      const parser = openParser();
      for (let at = 0; at < stream.length; at += 1) {
        parser.write(filter.push(stream.subarray(at, at + 1)));
        // A byte that may begin a character does not reach the emulator alone.
        if (filter.isAtRest) expect(parser.state).toBe(0);
        else expect(parser.state !== 0 || filter.pendingBytes <= 3).toBe(true);
      }
    }),
    { seed: 4, numRuns: repeats({ few: 300, full: 1000 }) },
  );
});

test("from inside a string that is left out, another filter continues with the rest of it", () => {
  fc.assert(
    fc.property(bytes, bytes, (before, after) => {
      const first = run([before]).filter;
      if (!first.isAtRest) return;
      const second = new SequenceFilter({ most: MOST, dropped: first.dropped });
      expect(second.push(after)).toEqual(first.push(after));
      expect(stateOf(second)).toEqual(stateOf(first));
    }),
    { seed: 5, numRuns: 1000 },
  );
});

test.each([
  ["osc", "\x1b]0;", "\x07"],
  ["osc", "\x1b]4;1;", "\x1b\\"],
  ["osc", "\u009d2;", "\u009c"],
  ["dcs", "\x1bP$q", "\x1b\\"],
  ["dcs", "\u0090", "\x18"],
  ["private", "\x1b_G", "\x1b\\"],
  ["private", "\x1b^", "\x1a"],
  ["private", "\u0098", "\u009c"],
])(
  "twenty megabytes of %s behind %j are left out, and what follows %j passes",
  (kind, start, end) => {
    const filter = new SequenceFilter();
    const chunk = Buffer.alloc(64 * 1024, "T");
    let passed = filter.push(Buffer.from(`before${start}`)).length;
    for (let count = 0; count < 320; count += 1) passed += filter.push(chunk).length;
    expect(filter.dropped).toBe(kind);
    expect(passed).toBeLessThan(8300);
    const rest = Buffer.from(filter.push(Buffer.from(`${end}after`))).toString();
    expect(rest.endsWith("after")).toBe(true);
    expect(rest).not.toContain("T");
    expect(filter).toMatchObject({ isAtRest: true, dropped: undefined });
  },
);

test("a terminal that gets the opening shows nothing of what is still left out", () => {
  for (const start of ["\x1b]2;", "\x1bP", "\x1b_"]) {
    const { filter } = run([Buffer.from(`${start}${"1;".repeat(MOST)}`)]);
    const terminal = new headless.Terminal({ allowProposedApi: true, logLevel: "off" });
    const titles: string[] = [];
    terminal.onTitleChange((title) => titles.push(title));
    // The parser is behind the published interface; `write` would only parse later.
    const core = Object(terminal)._core;
    core.writeSync(`${filter.opening}2;not a title\x1b\\after`);
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("after");
    expect(titles).toEqual([]);
  }
});

function run(parts: readonly Uint8Array[], { most = MOST } = {}) {
  const filter = new SequenceFilter({ most });
  // One buffer for all, as a reader of a log has it.
  const shared = Buffer.alloc(Math.max(...parts.map(({ length }) => length)));
  const passed = Buffer.concat(
    parts.map((part) => {
      shared.set(part);
      return Buffer.from(filter.push(shared.subarray(0, part.length)));
    }),
  );
  return { filter, passed };
}

function split(stream: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (stream.length + 1)), stream.length];
  let from = 0;
  return ends
    .toSorted((a, b) => a - b)
    .map((end) => {
      const part = stream.subarray(from, end);
      from = end;
      return part;
    });
}

function stateOf({ dropped, isAtRest, pendingBytes, opening }: SequenceFilter) {
  return { dropped, isAtRest, pendingBytes, opening };
}

/** The state of an emulator behind it: how much of an aborted string it got before has no effect. */
function effectOf(stream: Uint8Array): unknown {
  const terminal = new headless.Terminal({
    cols: 30,
    rows: 6,
    allowProposedApi: true,
    logLevel: "off",
  });
  const titles: string[] = [];
  const bells: number[] = [];
  terminal.onTitleChange((title) => titles.push(title));
  terminal.onBell(() => bells.push(bells.length));
  Object(terminal)._core.writeSync(stream);
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  return { titles, bells, lines, cursor: [active.cursorX, active.cursorY] };
}

function openParser() {
  const terminal = new headless.Terminal({
    cols: 30,
    rows: 6,
    allowProposedApi: true,
    logLevel: "off",
  });
  // The state of the parser is what the filter has to know, and no published interface shows it.
  const core = Object(terminal)._core;
  return {
    write: (some: Uint8Array) => core.writeSync(some),
    get state(): number {
      return core._inputHandler._parser.currentState;
    },
  };
}
