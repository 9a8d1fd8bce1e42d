import { expect, test } from "vitest";
import { formatTokens } from "./tokens.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1k"],
  [1234, "1.2k"],
  [9960, "10k"],
  [34_499, "34k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_500_000, "1.5M"],
])("%d tokens are %s", (count, words) => {
  expect(formatTokens(count)).toBe(words);
});
