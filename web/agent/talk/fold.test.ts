import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldLine, foldLines, isFoldable, sayHidden } from "./fold.ts";

const linesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ text: `line ${at}` }));

describe("folding", () => {
  test("a long line shows its head, its tail and how much is between them", () => {
    const tail = "; rm -rf ~/project";
    const folded = foldLine(`echo ${"a".repeat(3000)}${tail}`);
    expect(folded?.head.startsWith("echo aaa")).toBe(true);
    expect(folded?.tail.endsWith(tail)).toBe(true);
    expect(sayHidden(folded ?? { hiddenChars: 0 })).toBe("2,223 more characters");
    expect(foldLine("make -j4")).toBeUndefined();
  });

  test("many lines show the first and the last of them", () => {
    const folded = foldLines(linesOf(100));
    expect(folded?.head.at(0)?.text).toBe("line 0");
    expect(folded?.tail.at(-1)?.text).toBe("line 99");
    expect(sayHidden(folded ?? { hiddenChars: 0 })).toBe("64 more lines (512 characters)");
    expect(foldLines(linesOf(30))).toBeUndefined();
    expect(isFoldable(linesOf(30))).toBe(false);
  });

  test("whatever is folded, nothing is lost or counted wrong", () => {
    const line = fc.integer({ min: 0, max: 2500 }).map((length) => ({ text: "x".repeat(length) }));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const folded = foldLines(lines);
        const shown = folded === undefined ? lines.length : folded.head.length + folded.tail.length;
        expect(shown + (folded?.hiddenLines ?? 0)).toBe(lines.length);
        for (const { text } of lines) {
          const cut = foldLine(text);
          if (cut !== undefined)
            expect(cut.head.length + cut.hiddenChars + cut.tail.length).toBe(text.length);
        }
        const hides = folded !== undefined || lines.some(({ text }) => foldLine(text));
        expect(isFoldable(lines)).toBe(hides);
      }),
      { numRuns: 50 },
    );
  });

  test("no character is cut in half", () => {
    const folded = foldLine(`a${"😀".repeat(800)}`);
    expect(folded?.head.isWellFormed()).toBe(true);
    expect(folded?.tail.isWellFormed()).toBe(true);
  });
});
