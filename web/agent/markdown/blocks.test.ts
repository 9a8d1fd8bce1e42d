import fc from "fast-check";
import { expect, test } from "vitest";
import { type Blocks, growBlocks, noBlocks } from "./blocks.ts";

const piece = fc.constantFrom(
  ..."a,\n,\n\n,```,```ts\n,~~~\n,- item\n,  more\n,# head\n,    code\n,1. one\n,> said\n, ".split(
    ",",
  ),
);
const joined = ({ settled, rest }: Blocks) => settled.join("") + rest;

test("however a text comes, it is cut in the same places and nothing is lost", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      let grown = noBlocks;
      let text = "";
      for (const next of pieces) {
        text += next;
        grown = growBlocks(grown, text);
      }
      expect(joined(grown)).toBe(text);
      expect(grown).toEqual(growBlocks(noBlocks, text));
    }),
  );
});

test("blocks that are settled stay the same while the last one grows", () => {
  const before = growBlocks(noBlocks, "One.\n\nTwo.\n\nThr");
  const after = growBlocks(before, "One.\n\nTwo.\n\nThree");
  expect(before.settled).toEqual(["One.\n\n", "Two.\n\n"]);
  expect(after.settled).toBe(before.settled);
  expect(after.rest).toBe("Three");
});

test("a fence is one block, empty lines and all", () => {
  const text = "```ts\na\n\nb\n```\n\nafter";
  expect(growBlocks(noBlocks, text).settled).toEqual(["```ts\na\n\nb\n```\n\n"]);
});

test("a text that is another is read anew", () => {
  const before = growBlocks(noBlocks, "One.\n\nTwo.");
  expect(growBlocks(before, "Else.")).toEqual({ text: "Else.", settled: [], rest: "Else." });
});
