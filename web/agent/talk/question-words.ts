import type { ApprovalItem, QuestionItem } from "#contract/conversation/items.ts";

const CONTENT_CHARS = 500;
const actions = { accept: "Answered", decline: "Declined", cancel: "Dismissed" } as const;

/** How a question was answered. */
export function describeAnswer({ answer }: ApprovalItem | QuestionItem): string {
  if (answer === undefined) return "Waiting for an answer below";
  if ("decision" in answer)
    return answer.decision === "reject" ? "Stopped here" : "Allowed to continue";
  const { action, content } = answer;
  return content === undefined
    ? actions[action]
    : `${actions[action]}: ${describeContent(content)}`;
}

function describeContent(content: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(content);
  const said = values.map(([name, value]) =>
    values.length === 1 ? String(value) : `${name} = ${String(value)}`,
  );
  return said.join(", ").slice(0, CONTENT_CHARS).toWellFormed();
}
