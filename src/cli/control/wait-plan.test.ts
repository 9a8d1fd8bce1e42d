import { expect, test } from "vitest";
import { checkPattern, parseWanted } from "./wait-plan.ts";

test.each([
  [{}, { for: "exit" }],
  [{ for: "exit" }, { for: "exit" }],
  [{ for: "needs-answer" }, { for: "needs_answer" }],
  [{ for: "idle" }, { for: "idle", idle_ms: 2000 }],
  [{ idle: "5s" }, { for: "idle", idle_ms: 5000 }],
  [{ text: "a b" }, { for: "text", text: "a b" }],
  [
    { for: "regex", regex: "^a" },
    { for: "regex", pattern: "^a" },
  ],
])("%j waits for %j", (values, wanted) => {
  expect(parseWanted(values)).toEqual(wanted);
});

test.each([
  [{ for: "needs_answer" }, "none of exit, idle, text, regex, needs-answer"],
  [{ for: "text" }, "--text TEXT"],
  [{ text: "" }, "--text TEXT"],
  [{ idle: "soon" }, "--idle: "],
  [{ idle: "0" }, "--idle: "],
  [{ idle: "2h" }, "--idle: "],
  [{ for: "exit", idle: "2s" }, "--idle says nothing when exit is waited for"],
  [{ text: "a", regex: "b" }, "--regex says nothing when text is waited for"],
])("%j is refused", (values, sentence) => {
  expect(() => parseWanted(values)).toThrow(sentence);
});

test("a pattern may have escapes of JavaScript, and nothing that takes more than linear time", async () => {
  for (const regex of ["^b.$", "\\-x", "\\u{1f600}", "(?<name>a)"]) await checkPattern(regex);
  await expect(checkPattern("(")).rejects.toThrow("--regex: missing closing )");
  await expect(checkPattern("a(?=b)")).rejects.toThrow("--regex: (?= (look-ahead)");
});
