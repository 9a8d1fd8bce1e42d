import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { InputQueue, type WriteResult } from "./input-queue.ts";

const LIMIT = limits.input_queue_bytes;

/** A reader that does with each write what the script says, and takes everything once the script is over. */
class ScriptedReader {
  readonly clock = new ManualClock();
  readonly taken: Buffer[] = [];
  length = 0;
  ends = 0;
  /** Bytes that had been taken when the end came. */
  takenAtEnd = -1;
  isGone = false;
  readonly script: (number | "full" | "gone")[];

  constructor(script: readonly (number | "full" | "gone")[]) {
    this.script = [...script];
  }

  open(): InputQueue {
    return new InputQueue({
      clock: this.clock,
      write: (bytes) => this.#write(bytes),
      end: () => {
        this.ends += 1;
        this.takenAtEnd = this.length;
      },
    });
  }

  bytes(): Buffer {
    return Buffer.concat(this.taken);
  }

  #write(bytes: Uint8Array): WriteResult {
    if (this.isGone) throw new Error("written to after it was gone");
    if (bytes.length === 0) throw new Error("an empty write");
    const result = this.script.shift() ?? bytes.length;
    if (result === "gone") this.isGone = true;
    if (typeof result !== "number") return result;
    const count = Math.min(result, bytes.length);
    this.taken.push(Buffer.from(bytes.subarray(0, count)));
    this.length += count;
    return count;
  }
}

/** Bytes that differ from their neighbours and from what is some KiB away. */
const PERIOD = 251;
const endless = Buffer.alloc(
  2 * LIMIT,
  Buffer.from(Array.from({ length: PERIOD }, (_, i) => (i * 167) % PERIOD)),
);

function pattern(from: number, length: number): Buffer {
  return endless.subarray(from % PERIOD, (from % PERIOD) + length);
}

/** Whether these are the bytes of the pattern from its beginning. */
function isPattern(bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; start += LIMIT - (LIMIT % PERIOD)) {
    const part = bytes.subarray(start, start + LIMIT - (LIMIT % PERIOD));
    if (!part.equals(pattern(start, part.length))) return false;
  }
  return true;
}

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ push: fc.integer({ min: 0, max: 9000 }) }) },
  { weight: 1, arbitrary: fc.record({ push: fc.integer({ min: LIMIT / 2, max: LIMIT + 1 }) }) },
  { weight: 4, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 50 }) }) },
);
const script = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 5000 }) },
    { weight: 5, arbitrary: fc.constant("full" as const) },
  ),
  { maxLength: 60 },
);

describe("an input queue", () => {
  test("hands on every byte once and in order, whatever the reader does", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), script, (commands, results) => {
        const reader = new ScriptedReader(results);
        using queue = reader.open();
        let pushed = 0;
        for (const step of commands) {
          if ("pass" in step) reader.clock.advance(step.pass);
          else if (queue.bytes + step.push > LIMIT) {
            expect(() => queue.push(pattern(pushed, step.push))).toThrow(
              expect.objectContaining({ code: "queue_full" }),
            );
          } else {
            queue.push(pattern(pushed, step.push));
            pushed += step.push;
          }
          expect(queue.bytes).toBeLessThanOrEqual(LIMIT);
          expect(reader.length + queue.bytes).toBe(pushed);
        }
        queue.end();
        queue.push(Buffer.from("too late"));
        reader.clock.advance(60_000);
        expect(isPattern(reader.bytes())).toBe(true);
        expect(reader.ends).toBe(1);
        expect(reader.takenAtEnd).toBe(pushed);
        expect(queue.bytes).toBe(0);
        expect(reader.clock.timers).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test("drops what is left when the reader has gone, and says no end", () => {
    fc.assert(
      fc.property(script, fc.integer({ min: 1, max: 100_000 }), (results, length) => {
        const reader = new ScriptedReader([...results, "gone"]);
        using queue = reader.open();
        queue.push(pattern(0, length));
        reader.clock.advance(60_000);
        if (reader.isGone) {
          expect(isPattern(reader.bytes())).toBe(true);
          queue.push(Buffer.from("x"));
          queue.end();
          expect(reader.ends).toBe(0);
        }
        expect(queue.bytes).toBe(0);
        expect(reader.clock.timers).toBe(0);
      }),
    );
  });

  test("keeps its own copy of what it is given", () => {
    const reader = new ScriptedReader(["full"]);
    using queue = reader.open();
    const bytes = Buffer.from("abc");
    queue.push(bytes);
    bytes.fill("x");
    reader.clock.advance(1);
    expect(reader.bytes().toString()).toBe("abc");
  });

  test("takes exactly as much as its limit", () => {
    const reader = new ScriptedReader(Array.from({ length: 100 }, () => "full" as const));
    using queue = reader.open();
    queue.push(pattern(0, LIMIT - 1));
    expect(() => queue.push(pattern(LIMIT - 1, 2))).toThrow(
      expect.objectContaining({
        code: "queue_full",
        details: { queued_bytes: LIMIT - 1, limit_bytes: LIMIT },
      }),
    );
    queue.push(pattern(LIMIT - 1, 1));
    expect(queue.bytes).toBe(LIMIT);
    reader.clock.advance(60_000);
    expect(reader.bytes().equals(pattern(0, LIMIT))).toBe(true);
  });

  test("asks a reader that is full less and less often, and a reader that reads at once", () => {
    const reader = new ScriptedReader(Array.from({ length: 200 }, () => "full" as const));
    using queue = reader.open();
    queue.push(Buffer.from("x"));
    reader.clock.advance(1000);
    const asked = 200 - reader.script.length;
    expect(asked).toBeGreaterThan(40);
    expect(asked).toBeLessThan(60);
  });

  test("forgets everything when it is disposed", () => {
    const reader = new ScriptedReader(["full"]);
    const queue = reader.open();
    queue.push(Buffer.from("x"));
    queue[Symbol.dispose]();
    queue.push(Buffer.from("y"));
    queue.end();
    reader.clock.advance(60_000);
    expect(reader.bytes()).toHaveLength(0);
    expect(reader.ends).toBe(0);
    expect(queue.bytes).toBe(0);
    expect(reader.clock.timers).toBe(0);
  });
});

test("what was written does not stay in memory", () => {
  const seen: Uint8Array[] = [];
  using queue = new InputQueue({
    clock: new ManualClock(),
    write: (bytes) => {
      seen.push(bytes);
      return bytes.length;
    },
    end: () => undefined,
  });
  queue.push(Buffer.from("a secret\n"));
  expect(seen.map((bytes) => [...bytes].some((byte) => byte !== 0))).toEqual([false]);
});
