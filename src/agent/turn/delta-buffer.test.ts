import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { DeltaBuffer } from "./delta-buffer.ts";

function openBuffer() {
  const clock = new ManualClock();
  const written: { readonly at: number; readonly text: string }[] = [];
  const buffer = new DeltaBuffer(clock, (text) => written.push({ at: clock.monotonic(), text }));
  return { clock, buffer, written };
}

test("the first piece is written at once, the next ones together when their moment has come", () => {
  const { clock, buffer, written } = openBuffer();
  buffer.add("a");
  buffer.add("b");
  buffer.add("c");
  expect(written).toEqual([{ at: 0, text: "a" }]);
  clock.advance(limits.delta_every_ms);
  expect(written[1]).toEqual({ at: limits.delta_every_ms, text: "bc" });
  clock.advance(1000);
  expect([written.length, clock.timers]).toEqual([2, 0]);
});

test("nothing is lost, the order is kept, and there are at most twenty a second", () => {
  const steps = fc.array(fc.record({ text: fc.string({ maxLength: 20 }), ms: fc.nat(120) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, (all) => {
      const { clock, buffer, written } = openBuffer();
      for (const { text, ms } of all) {
        buffer.add(text);
        clock.advance(ms);
      }
      buffer.flush();
      buffer.flush();
      expect(written.map(({ text }) => text).join("")).toBe(all.map(({ text }) => text).join(""));
      expect(written.every(({ text }) => text !== "")).toBe(true);
      expect(clock.timers).toBe(0);
      // The last may have been flushed early.
      for (const [index, { at }] of written.slice(0, -1).entries()) {
        const before = written[index - 1];
        if (before !== undefined)
          expect(at - before.at).toBeGreaterThanOrEqual(limits.delta_every_ms);
      }
    }),
  );
});

test("what is too much for one event does not wait", () => {
  const { buffer, written } = openBuffer();
  buffer.add("a");
  buffer.add("x".repeat(limits.delta_chars));
  expect(written).toHaveLength(2);
});
