import { expect, test } from "vitest";
import { MessageLines } from "./message-lines.ts";

test("lines come out whole, however they come in", () => {
  const text = 'first\n{"é":1}\n\nlast\n';
  for (let size = 1; size <= text.length; size += 1) {
    const lines = new MessageLines(100);
    const bytes = Buffer.from(text);
    const found: string[] = [];
    for (let from = 0; from < bytes.length; from += size)
      found.push(...(lines.push(bytes.subarray(from, from + size)) ?? []));
    expect(found).toEqual(["first", '{"é":1}', "", "last"]);
  }
});

test("a line of the limit is whole, one more byte is too much", () => {
  const lines = new MessageLines(4);
  expect(lines.push(Buffer.from("abcd\nef"))).toEqual(["abcd"]);
  expect(lines.push(Buffer.from("gh"))).toEqual([]);
  expect(lines.push(Buffer.from("\nabcde"))).toBeUndefined();
  expect(new MessageLines(4).push(Buffer.from("abcde\n"))).toBeUndefined();
});
