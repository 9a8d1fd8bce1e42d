import { expect, test } from "vitest";
import { formatElapsed, formatTimeOfDay } from "./format.ts";

test.each([
  [-5, "0:00"],
  [7999, "0:07"],
  [133_000, "2:13"],
  [754_000, "12:34"],
  [3_733_000, "1:02:13"],
  [86_399_000, "23:59:59"],
  [273_600_000, "3 d 4 h"],
])("%i ms are shown as %s", (ms, shown) => {
  expect(formatElapsed(ms)).toBe(shown);
});

test("the date is part of a moment of another day", () => {
  const at = new Date(2026, 0, 2, 12, 4).toISOString();
  expect(formatTimeOfDay(at, new Date(2026, 0, 2, 23, 0).getTime())).not.toContain("Jan");
  expect(formatTimeOfDay(at, new Date(2026, 0, 3, 0, 1).getTime())).toContain("Jan");
});
