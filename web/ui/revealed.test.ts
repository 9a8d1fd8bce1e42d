import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CallInput, hasFolds } from "#web/agent/talk/call-input.tsx";
import { HiddenWarning, Isolated, Revealed } from "./revealed.tsx";

const draw = renderToStaticMarkup;

test("a hidden character is a chip that a screen reader names", () => {
  const drawn = draw(createElement(Isolated, { text: "safe_\u202etxt.sh", reading: "decision" }));
  expect(drawn).toMatch(/^<bdi>safe_<span role="img".*>⟨U\+202E⟩<\/span>txt\.sh<\/bdi>$/);
  expect(drawn).toContain('aria-label="hidden character U+202E, right-to-left override"');
  expect(drawn).not.toContain("\u202e");
});

test("a text of nothing but hidden characters makes a limited number of chips", () => {
  const text = "\u200b\u202e".repeat(5000);
  const drawn = draw(createElement(Revealed, { text, reading: "prose" }));
  expect(drawn.match(/<span/g)?.length).toBe(500);
  expect(drawn.match(/⟨U\+/g)?.length).toBe(10_000);
});

test("a card warns of what is hidden in it, wherever it is", () => {
  const warning = (value: unknown) => draw(createElement(HiddenWarning, { value }));
  expect(warning({ edits: [{ old: "a", new: "\u2066b" }] })).toContain("left-to-right isolate");
  expect(warning({ command: "make -j4" })).toBe("");
});

test("an approval shows the path, the lines and the command of a call with chips", () => {
  const shown = (tool: string, input: object) =>
    draw(createElement(CallInput, { tool, input })).replace(/<[^>]*>/g, "");
  expect(shown("write_file", { path: "a\u202e", content: "x\u200b\n" })).toBe(
    "Changes of a⟨U+202E⟩added: + x⟨U+200B⟩\n",
  );
  expect(shown("execute", { command: "rm \u202efdp" })).toBe("Commandrm ⟨U+202E⟩fdp\n");
});

test("what is folded shows its head, its tail and how much is between them", () => {
  const input = { command: `echo ${"a".repeat(3000)}; rm -rf ~/project` };
  const drawn = draw(createElement(CallInput, { tool: "execute", input, isFolded: true }));
  expect(drawn).toContain("echo aaa");
  expect(drawn).toContain("… 2,223 more characters …");
  expect(drawn).toContain("; rm -rf ~/project");
  expect(hasFolds("execute", input)).toBe(true);
  expect(hasFolds("execute", { command: "make" })).toBe(false);
});
