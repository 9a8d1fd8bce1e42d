import { expect, expectTypeOf, test } from "vitest";
import { defined } from "./defined.ts";

test("undefined fields are left out, and null, false and 0 are kept", () => {
  const fields = { a: undefined, b: null, c: false, d: 0, e: "" };
  expect(Object.keys(defined(fields))).toEqual(["b", "c", "d", "e"]);
});

test("a field that may be undefined becomes optional, and the others stay as they are", () => {
  const fields: { a: number | undefined; b: string | null; c?: boolean } = { a: 1, b: null };
  const kept = defined(fields);
  expectTypeOf(kept).toEqualTypeOf<{ b: string | null; a?: number; c?: boolean }>();
});
