import fc from "fast-check";
import { expect, test } from "vitest";
import { splitSettled } from "./settled-blocks.ts";

test("a block has ended when the next one has begun at the margin", () => {
  expect(splitSettled("One.\n\nTw")).toEqual({ blocks: ["One.\n\n"], rest: "Tw" });
  expect(splitSettled("One.\n\n")).toEqual({ blocks: [], rest: "One.\n\n" });
  expect(splitSettled("One.\nTwo.")).toEqual({ blocks: [], rest: "One.\nTwo." });
});

test("what is indented still belongs to the list above it", () => {
  const list = "- one\n\n  more of it\n\n- two";
  expect(splitSettled(list)).toEqual({ blocks: ["- one\n\n  more of it\n\n"], rest: "- two" });
});

test("a fence is one block, whatever is in it", () => {
  const code = "~~~js\na\n\nb\n```\n\nc\n~~~\n\n";
  expect(splitSettled(`${code}End`)).toEqual({ blocks: [code], rest: "End" });
  expect(splitSettled("```\na\n\nb").blocks).toEqual([]);
  // Marks with marks behind them are a span of code.
  expect(splitSettled("```a```\n\nb").blocks).toEqual(["```a```\n\n"]);
});

const markdown = fc
  .array(fc.constantFrom("word", " ", "\n", "\n\n", "- ", "```", "~~~", "  in", "# "), {
    maxLength: 40,
  })
  .map((parts) => parts.join(""));

test("a text in pieces is cut in the same places as the whole", () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.nat(12), { maxLength: 30 }), (text, sizes) => {
      const blocks: string[] = [];
      let rest = "";
      let at = 0;
      for (const size of [...sizes, text.length]) {
        const settled = splitSettled(rest + text.slice(at, at + size));
        blocks.push(...settled.blocks);
        rest = settled.rest;
        at += size;
      }
      expect({ blocks, rest }).toEqual(splitSettled(text));
      expect(blocks.join("") + rest).toBe(text);
    }),
    { numRuns: 500 },
  );
});
