import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText } from "./cut-text.ts";

const MARK = /\n\[… (\d+) bytes are left out …\]\n/;

test("a text that fits stays as it is", () => {
  expect(cutText("häß", 5)).toBe("häß");
  expect(cutText("", 0)).toBe("");
});

test("of a long one the head and the tail stay, whole characters only, and it says how much is missing", () => {
  const texts = fc.string({ unit: "grapheme", maxLength: 400 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 64, max: 400 }), (text, most) => {
      const cut = cutText(text, most);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(Math.max(most, 0));
      if (Buffer.byteLength(text) <= most) return;
      const [head = "", missing, tail = ""] = cut.split(MARK);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head + tail) + Number(missing)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 500 },
  );
});

test("characters of two, three and four bytes are never split", () => {
  for (const character of ["é", "€", "😀"])
    for (let most = 64; most < 100; most += 1)
      expect(cutText(character.repeat(200), most)).not.toContain("\ufffd");
});

test("where there is no room at all, the mark is all that is left", () => {
  expect(cutText("x".repeat(100), 10)).toBe("\n[… 100 bytes are left out …]\n");
});
