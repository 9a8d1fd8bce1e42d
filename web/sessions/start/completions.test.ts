import { expect, test } from "vitest";
import { completeDirectory, moveOption } from "./completions.ts";

test.each([
  ["", "/home/ada", "/home/ada/src/"],
  ["", "/", "/src/"],
  ["~", "/home/ada", "~/src/"],
  ["~/", "/home/ada", "~/src/"],
  ["~/s", "/home/ada", "~/src/"],
  ["s", "/home/ada", "src/"],
  ["lib/s", "/home/ada/lib", "lib/src/"],
  ["/srv/s", "/srv", "/srv/src/"],
  ["/s", "/", "/src/"],
  ["..", "/home", "../src/"],
  ["/srv/..", "/", "/srv/../src/"],
  ["/srv/.s", "/srv", "/srv/src/"],
])("%o goes on in its own way", (typed, path, completed) => {
  expect(completeDirectory(typed, { path, names: ["src"] })).toEqual([completed]);
});

test("no more are shown than can be overlooked", () => {
  const names = Array.from({ length: 200 }, (_, at) => `d${at}`);
  expect(completeDirectory("/", { path: "/", names })).toHaveLength(50);
});

test("arrows go around the options by way of what was typed", () => {
  expect(moveOption("ArrowDown", -1, 2)).toBe(0);
  expect(moveOption("ArrowDown", 1, 2)).toBe(-1);
  expect(moveOption("ArrowUp", -1, 2)).toBe(1);
  expect(moveOption("ArrowUp", 0, 2)).toBe(-1);
  expect(moveOption("ArrowDown", -1, 0)).toBeUndefined();
  expect(moveOption("Enter", 0, 2)).toBeUndefined();
});
