import { expect, test } from "vitest";
import { RememberedKeys } from "./remembered-keys.ts";

test("the oldest keys are forgotten, and one that comes again is young again", () => {
  const keys = new RememberedKeys(2);
  keys.add("a", "turn_1");
  keys.add("b", undefined);
  keys.add("a", "turn_2");
  keys.add("c", undefined);
  keys.add(undefined, "turn_3");
  expect(["a", "b", "c"].map((key) => keys.has(key))).toEqual([true, false, true]);
  expect(keys.turnOf("a")).toBe("turn_2");
});
