import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("the entries are the last ones that were set, the oldest first", () => {
  const keys = fc.array(fc.constantFrom("a", "b", "c", "d", "e"));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 }), keys, (limit, set) => {
      const map = new BoundedMap<string, number>(limit);
      for (const [at, key] of set.entries()) map.set(key, at);
      const newest = [...new Set(set.toReversed())].slice(0, limit).toReversed();
      expect([...map.keys()]).toEqual(newest);
      expect([...map.values()]).toEqual(newest.map((key) => set.lastIndexOf(key)));
      expect(map.size).toBe(newest.length);
    }),
  );
});

test("set returns the value that it forgets", () => {
  const map = new BoundedMap<string, number>(2);
  expect([map.set("a", 1), map.set("b", 2), map.set("a", 3)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(map.set("c", 4)).toBe(2);
  expect([map.has("b"), map.get("a"), map.delete("a"), map.size]).toEqual([false, 3, true, 1]);
});

test("so many ids are remembered and no more, the oldest go first", () => {
  const seen = new BoundedMap<string, true>(3);
  for (const id of ["a", "b", "c", "a", "d"]) seen.set(id, true);
  expect([...seen.keys()]).toEqual(["c", "a", "d"]);
  expect(seen.has("b")).toBe(false);
});
