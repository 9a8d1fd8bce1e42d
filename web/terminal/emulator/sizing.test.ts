import fc from "fast-check";
import { expect, test } from "vitest";
import { clampSize, fitFont } from "./sizing.ts";

test("no size is smaller than an emulator has or larger than the server draws", () => {
  expect(clampSize({ cols: 0, rows: 0 })).toEqual({ cols: 2, rows: 1 });
  expect(clampSize({ cols: 80.9, rows: 24.2 })).toEqual({ cols: 80, rows: 24 });
  expect(clampSize({ cols: 1e6, rows: 1e6 })).toEqual({ cols: 1000, rows: 500 });
});

test("a screen that has room keeps the letters that were asked for", () => {
  const room = { width: 1000, height: 1000 };
  expect(fitFont(14, { room, drawn: { width: 500, height: 200 }, wanted: 14 })).toBe(14);
});

test("a screen that is too wide gets smaller letters, down to what can be read", () => {
  const room = { width: 500, height: 1000 };
  expect(fitFont(14, { room, drawn: { width: 1000, height: 200 }, wanted: 14 })).toBe(7);
  expect(fitFont(14, { room, drawn: { width: 9000, height: 200 }, wanted: 14 })).toBe(7);
  expect(fitFont(14, { room, drawn: { width: 700, height: 200 }, wanted: 14 })).toBe(10);
});

test("letters are never larger than asked for, and fit where they can be read", () => {
  const extent = fc.record({
    width: fc.integer({ min: 1, max: 4000 }),
    height: fc.integer({ min: 1, max: 4000 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 32 }), extent, extent, (wanted, room, drawn) => {
      const font = fitFont(wanted, { room, drawn, wanted });
      expect(font).toBeLessThanOrEqual(wanted);
      expect(font).toBeGreaterThanOrEqual(7);
      if (font > 7) expect((drawn.width * font) / wanted).toBeLessThanOrEqual(room.width + 1e-6);
    }),
  );
});
