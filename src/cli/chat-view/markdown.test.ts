import fc from "fast-check";
import { expect, test } from "vitest";
import { readMarkdown } from "./markdown.ts";

function plain(text: string): string[] {
  return readMarkdown(text).map(
    ({ lead, spans }) => lead + spans.map((span) => span.text).join(""),
  );
}

test("every kind of block makes sense without colours", () => {
  expect(
    plain("# Title\n\nOne\ntwo.\n\n- a\n- b\n  1. c\n  2. d\n\n> said\n> - so\n\n---"),
  ).toEqual([
    ...["# Title", "", "One", "two.", "", "• a", "• b", "  1. c", "  2. d", ""],
    ...["│ said", "│ ", "│ • so", "", "───"],
  ]);
  expect(plain("```js\nlet a;\n\nb\n```")).toEqual(["    let a;", "    ", "    b"]);
  expect(plain("- [x] done\n- [ ] open")).toEqual(["• [x] done", "• [ ] open"]);
  expect(plain("| a | b |\n|---|---|\n| 1 | **2** |")).toEqual(["a | b", "1 | 2"]);
});

test("a link shows where it leads, whatever it says", () => {
  expect(plain("[bank](https://evil.example)")).toEqual(["bank (https://evil.example)"]);
  expect(plain("<https://a.example>")).toEqual(["https://a.example"]);
  expect(plain("![cat](c.png)")).toEqual(["[image: cat] (c.png)"]);
});

test("words keep their weight", () => {
  const [row] = readMarkdown("a **b *c*** `d` ~~e~~");
  expect(row?.spans.filter(({ text }) => text.trim() !== "")).toEqual([
    { text: "a " },
    { text: "b ", bold: true },
    { text: "c", italic: true, bold: true },
    { text: "d", code: true },
    { text: "e", strike: true },
  ]);
});

test("whatever a model writes can be read, and no word is lost", () => {
  const parts = [
    "word",
    "*",
    "**",
    "`",
    "```\n",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "[",
    "](x)",
    "<b>",
  ];
  const text = fc.array(fc.constantFrom(...parts, "|", "    ", "# ", "\\", "&lt;"), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(text, (pieces) => {
      const words = (said: string) => said.split("word").length;
      const written = pieces.join("");
      // What stands behind the marks of a fence names its language.
      if (/```.*word|~~~/.test(written) || written.includes("|")) return;
      expect(words(plain(written).join("\n"))).toBe(words(written));
    }),
    { numRuns: 500 },
  );
});
