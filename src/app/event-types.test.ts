import { expect, test } from "vitest";
import { findWrongType } from "./event-types.ts";

test.each(["*", "session.exited", "turn.ended", "warning"])("%s is a type of events", (type) => {
  expect(findWrongType(type)).toBeUndefined();
});

test("a type that does not exist is told with the nearest one, or with some", () => {
  expect(findWrongType("turn.endet")).toBe(
    'there is no event of the type "turn.endet"; did you mean turn.ended?',
  );
  expect(findWrongType("moonrise")).toContain("some are turn.ended");
  expect(findWrongType("")).toContain("some are turn.ended");
});
