import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimeline, parseClock } from "./timeline.ts";

const times = fc
  .array(fc.double({ min: 0, max: 500, noNaN: true }), { maxLength: 50 })
  .map((pauses) => {
    let at = 0;
    return pauses.map((pause) => {
      at += pause;
      return at;
    });
  });

test("without a bound shown time is recorded time", () => {
  fc.assert(
    fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (list, part) => {
      const timeline = createTimeline(list, Number.POSITIVE_INFINITY);
      const at = part * (list.at(-1) ?? 0);
      expect(timeline.show(at)).toBeCloseTo(at, 6);
      expect(timeline.record(at)).toBeCloseTo(at, 6);
      expect(timeline.duration).toBeCloseTo(list.at(-1) ?? 0, 6);
    }),
  );
});

test("no pause is shown for longer than it may, and none that is shorter is changed", () => {
  fc.assert(
    fc.property(times, fc.double({ min: 0.1, max: 10, noNaN: true }), (list, most) => {
      const { show } = createTimeline(list, most);
      list.forEach((at, index) => {
        const before = list[index - 1] ?? 0;
        expect(show(at) - show(before)).toBeCloseTo(Math.min(most, at - before), 6);
      });
    }),
  );
});

test("a moment is found again, and later moments are shown later", () => {
  const moments = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });
  fc.assert(
    fc.property(times, moments, (list, parts) => {
      const timeline = createTimeline(list, 2);
      const at = parts.toSorted((a, b) => a - b).map((part) => part * (list.at(-1) ?? 0));
      const shown = at.map((one) => timeline.show(one));
      expect(shown).toEqual(shown.toSorted((a, b) => a - b));
      at.forEach((one, index) => {
        expect(timeline.record(shown[index] ?? 0)).toBeCloseTo(one, 4);
        expect(shown[index]).toBeLessThanOrEqual(timeline.duration + 1e-9);
      });
    }),
  );
});

test("every event has happened at its own time and at the end", () => {
  fc.assert(
    fc.property(times, (list) => {
      const timeline = createTimeline(list, 2);
      expect(timeline.countAt(timeline.duration)).toBe(list.length);
      expect(timeline.countAt(-1)).toBe(0);
    }),
  );
  const timeline = createTimeline([0, 1, 1, 10], 2);
  expect([0, 0.5, 1, 2.9, 3].map((at) => timeline.countAt(at))).toEqual([1, 1, 3, 3, 4]);
  expect(timeline.record(2)).toBe(5.5);
});

test("an empty recording is at its end", () => {
  const timeline = createTimeline([], 2);
  expect([timeline.duration, timeline.show(5), timeline.record(5), timeline.countAt(5)]).toEqual([
    0, 0, 0, 0,
  ]);
});

test.each([
  ["12", 12],
  ["1:30", 90],
  ["1:02:03", 3723],
  [" 0:05.5 ", 5.5],
  ["7,25", 7.25],
  ["", undefined],
  ["1:2:3:4", undefined],
  ["-5", undefined],
  ["soon", undefined],
])("%j is the moment %s", (text, seconds) => {
  expect(parseClock(text)).toBe(seconds);
});
