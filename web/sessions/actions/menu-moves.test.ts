import { expect, test } from "vitest";
import { moveItem, placeMenu } from "./menu-moves.ts";

const page = { width: 400, height: 800 };
const menu = { width: 200, height: 300 };

test.each([
  [
    "below its button, flush with its right edge",
    { top: 100, bottom: 140, right: 390 },
    { left: 190, top: 144 },
  ],
  [
    "above it where there is no room below",
    { top: 700, bottom: 740, right: 390 },
    { left: 190, top: 396 },
  ],
  ["within the page at its left edge", { top: 100, bottom: 140, right: 60 }, { left: 4, top: 144 }],
  [
    "within the page at its right edge",
    { top: 100, bottom: 140, right: 430 },
    { left: 196, top: 144 },
  ],
])("a menu opens %s", (_name, anchor, place) => {
  expect(placeMenu(anchor, menu, page)).toEqual(place);
});

test("where there is room neither above nor below, it begins in the page", () => {
  const low = { width: 400, height: 310 };
  expect(placeMenu({ top: 100, bottom: 140, right: 300 }, menu, low)).toEqual({
    left: 100,
    top: 6,
  });
});

const labels = ["Rename", "Copy link", "Copy id", "Close"];

test.each([
  ["ArrowDown", 3, 0],
  ["ArrowDown", -1, 0],
  ["ArrowUp", 0, 3],
  ["ArrowUp", 2, 1],
  ["Home", 2, 0],
  ["End", 0, 3],
  ["c", 0, 1],
  ["C", 1, 2],
  ["c", 3, 1],
  ["x", 0, undefined],
  [" ", 0, undefined],
  ["Enter", 0, undefined],
])("%s leads from item %i to item %o", (key, from, to) => {
  expect(moveItem(key, from, labels)).toBe(to);
});
