import { expect, test } from "vitest";
import { parseObject } from "./parse-object.ts";

test("only an object is parsed: no list, no null, no text that is not JSON", () => {
  expect(parseObject('{"a":[1]}')).toEqual({ a: [1] });
  for (const text of ["[]", "null", "1", '"a"', "{", "", '{"a":1} b'])
    expect(parseObject(text)).toBeUndefined();
});
