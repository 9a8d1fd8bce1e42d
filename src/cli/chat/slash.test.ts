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

test("the list says of each command what it takes and what it is for, the agent's own included", () => {
  const help = describeHelp({ fix: "Fix it.", plain: "" }).split("\n");
  expect(help).toContain("/model [NAME]: which models there are, or another one from now on");
  expect(help).toContain("/detach: leave; the session keeps running");
  expect(help).toContain("/fix: Fix it.");
  expect(help).toContain("/plain: a command of this agent");
});
