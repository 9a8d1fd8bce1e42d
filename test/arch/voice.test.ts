import { expect, test } from "vitest";

interface Phrase {
  readonly kind: string;
  readonly line: number;
  readonly words: string;
}

const { compareCounts, findPhrases } = await import(
  new URL("../../scripts/voice.mjs", import.meta.url).href
);
const find = (path: string, source: string): Phrase[] =>
  findPhrases(path, source).map(({ kind, line, words }: Phrase) => ({ kind, line, words }));

test("comments, strings, templates and text of JSX are read", () => {
  const source = [
    "// The session goes on.",
    'const told = "the user is told";',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template.
    "const left = `${name} is no number`;",
    "const view = <p>Ask somebody here</p>;",
  ].join("\n");
  expect(find("a.tsx", source)).toEqual([
    { kind: "goes on", line: 1, words: "goes on" },
    { kind: "is said, is told", line: 2, words: "is told" },
    { kind: "is no X", line: 3, words: "is no number" },
    { kind: "vague person", line: 4, words: "somebody" },
  ]);
});

test("identifiers and regular expressions are not words", () => {
  const source = "const nobody = who.he; const words = /somebody|goes on/;";
  expect(find("a.ts", source)).toEqual([]);
});

test("a phrase that a line break divides is found", () => {
  expect(find("a.ts", "// The work goes\n// on without a client.")).toHaveLength(1);
  expect(find("a.md", "The work goes\non without a client.")).toHaveLength(1);
});

test("code blocks of a page are left out", () => {
  expect(find("a.md", "```sh\necho somebody\n```\nText.")).toEqual([]);
});

test("a question and a plain denial are fine", () => {
  const source = "What is a session? There is no session. It is no longer there.";
  expect(find("a.md", source)).toEqual([]);
});

test("a count that rises is reported with what to write instead", () => {
  const [problem] = compareCounts({ "goes on": 3 }, { "goes on": 2 });
  expect(problem).toContain('goes on: 3, recorded 2. Write "continues"');
});

test("a count that fell has to be recorded", () => {
  expect(compareCounts({ "goes on": 1 }, { "goes on": 2 })).toEqual([
    "goes on: 1, recorded 2. Record the lower count with: npm run format",
  ]);
  expect(compareCounts({ "goes on": 2 }, { "goes on": 2 })).toEqual([]);
});
