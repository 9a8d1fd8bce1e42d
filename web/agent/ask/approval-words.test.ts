import { expect, test } from "vitest";
import type { PendingApproval } from "#contract/agent/views.ts";
import { allowToolWords, titleOf } from "./approval-words.ts";

const of = (approval: object) =>
  ({ approval_id: "apr_1", kind: "tool", message: "", ...approval }) as unknown as PendingApproval;

test.each([
  [{ tool: "execute", input: { command: "make" } }, "Run this command?"],
  [{ tool: "edit_file", input: { path: "cart.py", edits: [] } }, "Edit cart.py?"],
  [{ tool: "write_file", input: { path: "cart.py" } }, "Write cart.py?"],
  [{ tool: "fetch", input: { url: "x" } }, "Use fetch?"],
  [{ tool: "constructor", input: { path: "x" } }, "Use constructor?"],
  [{ kind: "max_iterations" }, "Continue?"],
])("%j is asked as %s", (approval, title) => {
  expect(titleOf(of(approval))).toBe(title);
});

test("of a long path the end is in the title", () => {
  const title = titleOf(of({ tool: "write_file", input: { path: `${"d/".repeat(200)}last.sh` } }));
  expect(title).toMatch(/^Write ….*d\/last\.sh\?$/);
  expect(title.length).toBeLessThan(100);
});

test("the button that always allows a tool names it, hidden characters included", () => {
  expect(allowToolWords(of({ tool: "fetch\u200b" }))).toBe("Always allow fetch⟨U+200B⟩");
});
