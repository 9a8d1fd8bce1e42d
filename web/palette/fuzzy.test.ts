import fc from "fast-check";
import { expect, test } from "vitest";
import { joinSpans, matchWord, type Span, splitQuery } from "./fuzzy.ts";

function score(word: string, text: string): number {
  return matchWord(word, text)?.score ?? 0;
}

test("what is not there is not found", () => {
  expect(matchWord("xyz", "Open a shell")).toBeUndefined();
  expect(matchWord("", "Open a shell")).toBeUndefined();
  expect(matchWord("llehs", "Open a shell")).toBeUndefined();
});

test("large and small letters are the same", () => {
  expect(matchWord("SHELL", "open a shell")).toEqual(matchWord("shell", "OPEN A SHELL"));
});

test("the beginning of a word is found before its middle", () => {
  expect(matchWord("she", "ashes of a shell")?.spans).toEqual([[11, 14]]);
  expect(score("sh", "open a shell")).toBeGreaterThan(score("he", "open a shell"));
});

test("a piece beats scattered letters, and the whole beats a piece", () => {
  expect(score("shell", "shell")).toBeGreaterThan(score("shell", "shells"));
  expect(score("shell", "my shell")).toBeGreaterThan(score("shell", "s.h.e.l.l"));
  expect(score("os", "close")).toBeGreaterThan(score("os", "open shell"));
});

test("letters in order are found, the first of each word best", () => {
  expect(matchWord("oas", "Open a shell")?.spans).toEqual([
    [0, 1],
    [5, 6],
    [7, 8],
  ]);
  expect(score("oas", "open a shell")).toBeGreaterThan(score("oel", "open a shell"));
});

test("letters that lie too far apart are no match", () => {
  expect(matchWord("az", `a${"-".repeat(60)}z`)).toBeUndefined();
});

test("only the beginning of a long text is looked at", () => {
  expect(matchWord("end", `${"x".repeat(400)} end`)).toBeUndefined();
});

test("every piece of a text is found in it, and its spans say so", () => {
  const piece = fc
    .tuple(fc.string({ minLength: 1, maxLength: 50 }), fc.nat(), fc.nat())
    .map(([text, from, length]) => {
      const start = from % text.length;
      return { text, word: text.slice(start, start + 1 + (length % 5)) };
    });
  fc.assert(
    fc.property(piece, ({ text, word }) => {
      const found = matchWord(word, text);
      expect(found?.score).toBeGreaterThan(0);
      const [[from, to] = [0, 0]] = found?.spans ?? [];
      expect(text.slice(from, to).toLowerCase()).toBe(word.toLowerCase());
    }),
  );
});

test("joined spans are sorted and apart, and cover the same places", () => {
  const span = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 6 }));
  fc.assert(
    fc.property(fc.array(span), (pairs) => {
      const spans = pairs.map(([from, length]): Span => [from, from + length]);
      const joined = joinSpans(spans);
      const placesOf = (list: readonly Span[]) =>
        new Set(
          list.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i)),
        );
      expect(placesOf(joined)).toEqual(placesOf(spans));
      for (const [index, [from]] of joined.entries())
        expect(from).toBeGreaterThan(joined[index - 1]?.[1] ?? -1);
    }),
  );
});

test("a query is its words", () => {
  expect(splitQuery("  open   shell ")).toEqual(["open", "shell"]);
  expect(splitQuery(" ")).toEqual([]);
});
