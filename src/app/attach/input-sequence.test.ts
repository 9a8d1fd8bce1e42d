import { expect, test } from "vitest";
import { InputSequence } from "./input-sequence.ts";

const invalid = expect.objectContaining({ code: "invalid_request" });

test("inputs are taken in the order of their numbers, from 1", () => {
  const sequence = new InputSequence();
  expect(() => sequence.take(2)).toThrow(invalid);
  sequence.take(1);
  sequence.take(2);
  expect(() => sequence.take(4)).toThrow("input 4 came where 3 was expected");
  expect(() => sequence.take(2)).toThrow(invalid);
  sequence.take(3);
});

test("a refused input may come again under its number until a newer one has come", () => {
  const sequence = new InputSequence();
  sequence.take(1);
  sequence.refused(1);
  sequence.take(1);
  expect(() => sequence.take(1)).toThrow(invalid);
  sequence.take(2);
  sequence.refused(1);
  expect(() => sequence.take(1)).toThrow(invalid);
  sequence.refused(2);
  sequence.take(3);
});
