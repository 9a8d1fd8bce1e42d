import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { KeyChords, PARTS_MS } from "./key-chords.ts";

const PREFIXES = ["\x1c", "\x1b[92;5u", "\x1b[92;69u", "\x1b[92;133u", "\x1b[27;5;92~"] as const;
const EXTENDED = PREFIXES.filter((prefix) => prefix.length > 1);

interface Typing {
  readonly type: (...chunks: readonly string[]) => void;
  readonly clock: ManualClock;
  /** What the program got, and our chords as `<detach>`. */
  readonly seen: () => string;
}

function openTyping(): Typing {
  const clock = new ManualClock();
  let seen = "";
  const chords = new KeyChords(
    {
      keys: (bytes) => {
        seen += bytes.toString("latin1");
      },
      chord: (chord) => {
        seen += `<${chord}>`;
      },
    },
    clock,
  );
  return {
    clock,
    seen: () => seen,
    type: (...chunks) => {
      for (const chunk of chunks) chords.push(Buffer.from(chunk, "latin1"));
    },
  };
}

function typed(...chunks: readonly string[]): string {
  const typing = openTyping();
  typing.type(...chunks);
  return typing.seen();
}

test.each(PREFIXES)("%j and a letter are a chord", (prefix) => {
  expect(typed(`ab${prefix}dcd`)).toBe("ab<detach>cd");
  expect(typed(`${prefix}D`)).toBe("<detach>");
  expect(typed(`a${prefix}tb`)).toBe("a<take>b");
});

test.each(PREFIXES)("%j twice is one for the program", (prefix) => {
  expect(typed(`a${prefix}${prefix}d`)).toBe(`a${prefix}d`);
});

test.each(PREFIXES)("%j and any other key are the program's", (prefix) => {
  expect(typed(`${prefix}xd`)).toBe(`${prefix}xd`);
  expect(typed(`${prefix}ü`)).toBe(`${prefix}ü`);
});

test.each(PREFIXES)("%j waits for its second key as long as it takes", (prefix) => {
  const typing = openTyping();
  typing.type("a", prefix);
  typing.clock.advance(60_000);
  expect(typing.seen()).toBe("a");
  typing.type("d");
  expect(typing.seen()).toBe("a<detach>");
});

test.each(EXTENDED)("%j is found wherever it is cut", (prefix) => {
  for (let at = 1; at < prefix.length; at += 1) {
    // Cut behind ESC, the program has been told of that key.
    const told = at === 1 ? "\x1b" : "";
    expect(typed(`a${prefix.slice(0, at)}`, prefix.slice(at), "db")).toBe(`a${told}<detach>b`);
    expect(typed(prefix.slice(0, at), `${prefix.slice(at)}x`)).toBe(`${prefix}x`);
    expect(typed(prefix, prefix.slice(0, at), prefix.slice(at), "d")).toBe(`${prefix}d`);
  }
  expect(typed(...prefix, "d")).toBe("\x1b<detach>");
});

test("the ESC key reaches the program at once", () => {
  expect(typed("\x1b")).toBe("\x1b");
  expect(typed("ab\x1b")).toBe("ab\x1b");
  expect(typed("\x1b", "\x1b")).toBe("\x1b\x1b");
  expect(typed("\x1b", "x")).toBe("\x1bx");
});

test("an ESC and what is typed long after it are two keys", () => {
  const typing = openTyping();
  typing.type("\x1b");
  typing.clock.advance(PARTS_MS);
  typing.type("[92;5u", "d");
  expect(typing.seen()).toBe("\x1b[92;5ud");
});

test("what begins like a prefix and is none is held for a moment at most", () => {
  const typing = openTyping();
  typing.type("\x1b[");
  expect(typing.seen()).toBe("");
  typing.clock.advance(PARTS_MS);
  expect(typing.seen()).toBe("\x1b[");
  typing.type("A");
  expect(typing.seen()).toBe("\x1b[A");
});

test("a prefix and the ESC key reach the program after that moment", () => {
  const typing = openTyping();
  typing.type("\x1c", "\x1b");
  typing.clock.advance(PARTS_MS);
  expect(typing.seen()).toBe("\x1c\x1b");
  typing.type("d");
  expect(typing.seen()).toBe("\x1c\x1bd");
});

test("nothing is timed when nothing is held", () => {
  const typing = openTyping();
  typing.type("abc", "\x1b[A", "\x1c");
  expect(typing.clock.timers).toBe(0);
});

/** What the program and we should get of a text, by reading it once from its beginning. */
function expected(text: string): string {
  const prefix = String.raw`(?:\x1c|\x1b\[92;(?:5|69|133|197)u|\x1b\[27;5;92~)`;
  const pattern = new RegExp(`(${prefix})(?:(${prefix})|([^]))`, "g");
  const chords: Record<string, string> = { d: "<detach>", D: "<detach>", t: "<take>" };
  return text.replace(pattern, (whole, ...[first, second, key = ""]: string[]) =>
    second === undefined ? (chords[key] ?? whole) : (first ?? ""),
  );
}

const keys = fc.oneof(
  fc.constantFrom(...PREFIXES, "d", "t", "x", "\x1b", "\x1b[A", "[92;5u", "\x1b[9", "\x1b[92;5~"),
  fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
);
const typing = fc.array(keys, { maxLength: 20 }).map((parts) => `${parts.join("")}.`);
const cuts = fc.array(fc.nat({ max: 80 }), { maxLength: 10 });

test("bytes outside of chords come through unchanged and in order, in one chunk", () => {
  fc.assert(
    fc.property(typing, (text) => {
      expect(typed(text)).toBe(expected(text));
    }),
    { numRuns: 2000 },
  );
});

test("where the chunks are cut makes no difference but for an ESC that could not wait", () => {
  fc.assert(
    fc.property(typing, cuts, (text, places) => {
      const sorted = [0, ...places.toSorted((a, b) => a - b)];
      const seen = typed(...sorted.map((from, index) => text.slice(from, sorted[index + 1])));
      const isCutAtEscape = sorted.some((at) => text[at - 1] === "\x1b");
      if (!isCutAtEscape) expect(seen).toBe(expected(text));
      expect(seen.replaceAll("\x1b", "")).toBe(expected(text).replaceAll("\x1b", ""));
    }),
    { numRuns: 2000 },
  );
});
