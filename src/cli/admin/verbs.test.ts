import { expect, test } from "vitest";
import { collect, given, parseLifetime } from "./verbs.ts";

test("all pages of a list are read, each by the cursor of the one before", async () => {
  const asked: (string | undefined)[] = [];
  const rows = await collect<number>(async ({ cursor }) => {
    asked.push(cursor);
    return { rows: [asked.length], cursor: asked.length < 3 ? `after ${asked.length}` : null };
  });
  expect(rows).toEqual([1, 2, 3]);
  expect(asked).toEqual([undefined, "after 1", "after 2"]);
});

test.each([
  ["90s", 90_000],
  ["45m", 2_700_000],
  ["1h30m", 5_400_000],
  ["30d", 2_592_000_000],
  ["2w", 1_209_600_000],
])("%s is %d ms", (text, ms) => {
  expect(parseLifetime(text, "--expires")).toBe(ms);
});

test.each(["", "30", "d", "1.5h", "-1d", "1y", "1 d", "1d!"])("%j is no time", (text) => {
  expect(() => parseLifetime(text, "--expires")).toThrow(/^--expires: .* is no time such as/);
});

test("what was not given is left out", () => {
  expect(given({ a: undefined, b: "", c: 0 })).toEqual({ b: "", c: 0 });
});
