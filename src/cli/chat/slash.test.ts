import { expect, test } from "vitest";
import { describeHelp, parseSlash } from "./slash.ts";

test("a slash and a word of ours is a command; the rest is said to the agent", () => {
  const table: [text: string, parsed: unknown][] = [
    ["/tools", { kind: "ours", name: "tools", rest: "" }],
    [" /model  openai/x ", { kind: "ours", name: "model", rest: "openai/x" }],
    ["/compact keep\nthis", { kind: "ours", name: "compact", rest: "keep\nthis" }],
    ["/fix the tests", undefined],
    ["/nothing", { kind: "unknown", name: "nothing" }],
    ["/constructor", { kind: "unknown", name: "constructor" }],
    ["/etc/hosts is what?", undefined],
    ["/", undefined],
    ["// a comment", undefined],
    ["tell me of /tools", undefined],
  ];
  for (const [text, parsed] of table)
    expect([text, parseSlash(text, ["fix"])]).toEqual([text, parsed]);
});

test("the list has ours and the agent's own", () => {
  expect(describeHelp({ fix: "Fix it." })).toMatch(/\/detach .*\n[\s\S]*\/fix: of this agent/);
});
