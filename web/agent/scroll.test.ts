import { expect, test } from "vitest";
import { countAfter } from "./scroll.ts";

const items = ["a", "b", "c"].map((key) => ({ key }));

test("what came after the last item that was seen is counted", () => {
  expect(countAfter(items, "c")).toBe(0);
  expect(countAfter(items, "a")).toBe(2);
});

test("everything is new to a reader who has seen nothing", () => {
  expect(countAfter(items, undefined)).toBe(3);
  expect(countAfter([], undefined)).toBe(0);
});
