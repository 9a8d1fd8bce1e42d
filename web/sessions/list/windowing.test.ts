import fc from "fast-check";
import { expect, test } from "vitest";
import {
  findDrawn,
  findVisible,
  listDrawn,
  moveRow,
  scrollToShow,
  type Viewport,
} from "./windowing.ts";

const list = (change: Partial<Viewport> = {}): Viewport => ({
  ...{ scrollTop: 0, height: 400, rowHeight: 40, rowCount: 5000 },
  ...change,
});

test("rows in view, also in part, are visible; a few more are drawn", () => {
  expect(findVisible(list())).toEqual({ first: 0, end: 10 });
  expect(findVisible(list({ scrollTop: 60 }))).toEqual({ first: 1, end: 12 });
  expect(findDrawn(list({ scrollTop: 4000 }))).toEqual({ first: 94, end: 116 });
  expect(findDrawn(list())).toEqual({ first: 0, end: 16 });
});

test("a list that became shorter than where it was scrolled to shows its end", () => {
  expect(findVisible(list({ scrollTop: 9000, rowCount: 20 }))).toEqual({ first: 10, end: 20 });
  expect(findVisible(list({ scrollTop: 9000, rowCount: 3 }))).toEqual({ first: 0, end: 3 });
  expect(findVisible(list({ rowCount: 0 }))).toEqual({ first: 0, end: 0 });
});

test("a row that is kept is drawn in its place, once, however far away it is", () => {
  const range = { first: 3, end: 6 };
  expect(listDrawn(range, -1)).toEqual([3, 4, 5]);
  expect(listDrawn(range, 4)).toEqual([3, 4, 5]);
  expect(listDrawn(range, 0)).toEqual([0, 3, 4, 5]);
  expect(listDrawn(range, 6)).toEqual([3, 4, 5, 6]);
});

test("a row is brought into view by the shortest way", () => {
  expect(scrollToShow(list({ scrollTop: 400 }), 5)).toBe(200);
  expect(scrollToShow(list({ scrollTop: 400 }), 12)).toBe(400);
  expect(scrollToShow(list({ scrollTop: 400 }), 20)).toBe(440);
});

test.each([
  ["ArrowDown", 3, 4],
  ["ArrowUp", 3, 2],
  ["ArrowUp", 0, 0],
  ["ArrowDown", 4999, 4999],
  ["PageDown", 3, 12],
  ["PageUp", 3, 0],
  ["Home", 70, 0],
  ["End", 70, 4999],
  ["ArrowDown", -1, 0],
  ["ArrowUp", -1, 0],
  ["End", -1, 4999],
])("%s leads from row %i to row %i", (key, from, to) => {
  expect(moveRow(key, from, list())).toBe(to);
});

test("other keys, and an empty list, lead nowhere", () => {
  expect(moveRow("a", 3, list())).toBeUndefined();
  expect(moveRow("constructor", 3, list())).toBeUndefined();
  expect(moveRow("ArrowDown", -1, list({ rowCount: 0 }))).toBeUndefined();
});

test("whatever was scrolled, what is seen is drawn, and never more than the view and its edges", () => {
  const viewports = fc.record({
    scrollTop: fc.integer({ min: -500, max: 300_000 }),
    height: fc.integer({ min: 0, max: 3000 }),
    rowHeight: fc.integer({ min: 1, max: 100 }),
    rowCount: fc.nat(5000),
  });
  fc.assert(
    fc.property(viewports, (viewport) => {
      const [seen, drawn] = [findVisible(viewport), findDrawn(viewport)];
      expect(drawn.first).toBeGreaterThanOrEqual(0);
      expect(drawn.first).toBeLessThanOrEqual(seen.first);
      expect(drawn.end).toBeGreaterThanOrEqual(seen.end);
      expect(drawn.end).toBeLessThanOrEqual(viewport.rowCount);
      const most = Math.ceil(viewport.height / viewport.rowHeight) + 1 + 12;
      expect(drawn.end - drawn.first).toBeLessThanOrEqual(most);
    }),
  );
});

test("a row that was shown is in view", () => {
  fc.assert(
    fc.property(fc.nat(200_000), fc.nat(4999), (scrollTop, row) => {
      const viewport = list({ scrollTop });
      const { first, end } = findVisible({ ...viewport, scrollTop: scrollToShow(viewport, row) });
      expect(row >= first && row < end).toBe(true);
    }),
  );
});
