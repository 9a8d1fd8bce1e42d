import { expect, test } from "vitest";
import { partsOf } from "./call-parts.ts";

const shown = (tool: string, input: unknown) =>
  partsOf(tool, input).map(({ label, path, lines }) => [
    path ?? label,
    lines.map(({ sign, text }) => `${sign}${text}`).join("\n"),
  ]);

test("a command is shown as it is, any other input as JSON", () => {
  expect(shown("execute", { command: "a\nb" })).toEqual([["Command", " a\n b"]]);
  expect(shown("fetch", { url: "x" })).toEqual([["Input", ' {\n   "url": "x"\n }']]);
});

test("arguments beside a change are shown too", () => {
  expect(shown("write_file", { path: "a", content: "x" })).toEqual([["a", "+x"]]);
  expect(shown("write_file", { path: "a", content: "x", mode: 511 })).toEqual([
    ["a", "+x"],
    ["Other arguments", ' {\n   "mode": 511\n }'],
  ]);
  const edits = [{ old: "x", new: "y", all: true }];
  expect(shown("edit_file", { path: "a", edits })).toEqual([
    ["a", "-x\n+y"],
    ["Other arguments", ' {\n   "edits": [\n     {\n       "all": true\n     }\n   ]\n }'],
  ]);
});
