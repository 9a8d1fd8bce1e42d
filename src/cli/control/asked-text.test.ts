import { expect, test } from "vitest";
import { rowsOf } from "#cli/chat/chat-rows.ts";
import { safeText } from "#cli/chat/safe-text.ts";
import { describeInput } from "#cli/chat-view/describe-call.ts";

const rowOf = (kind: "approval" | "question", asked: object) => {
  const item = { kind, asked, answer: undefined, key: "a", at: "", position: undefined };
  // What was asked is checked where it is asked.
  return rowsOf({ before: undefined, item: item as never, depth: 0, isUnfolded: false })[0];
};

const approval = {
  ...{ approval_id: "apr_1", kind: "tool", tool: "write_file", message: "May I?" },
  input: { path: "safe_\u202etxt.sh", content: "a\u200bb" },
} as const;

test("a terminal shows an approval with its hidden characters, and warns of them", () => {
  const { detail } = rowOf("approval", approval) as { detail: string };
  // As it is drawn.
  expect(safeText(detail).split("\n")).toEqual([
    "write_file {",
    '  "path": "safe_⟨U+202E⟩txt.sh",',
    '  "content": "a⟨U+200B⟩b"',
    "}",
    "Warning: hidden characters: right-to-left override (U+202E), zero width space (U+200B)",
  ]);
  expect(describeInput(approval.input, "short")).toBe(
    "path=safe_⟨U+202E⟩txt.sh content=a⟨U+200B⟩b",
  );
});

test("a question is shown with its hidden characters, and one without them as it is", () => {
  const question = { elicitation_id: "eli_1", message: "Really\u202e?", schema: {} };
  expect(rowOf("question", question)).toMatchObject({
    text: "Really⟨U+202E⟩?",
    detail: "Warning: hidden characters: right-to-left override (U+202E)",
  });
  expect(rowOf("question", { ...question, message: "Really?" })).toMatchObject({
    text: "Really?",
    detail: "",
  });
});
