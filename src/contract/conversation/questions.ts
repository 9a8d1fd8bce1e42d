import type { AgentEventOf } from "#contract/agent/events.ts";
import { approvalOf, elicitationOf } from "#contract/agent/standing.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { changeCall } from "./calls.ts";
import type { Conversation } from "./items.ts";
import { addNote, changeThread, findItem, keyAt, putItem, threadOf } from "./thread.ts";

type QuestionEvent = AgentEventOf<
  "approval.requested" | "approval.resolved" | "elicitation.requested" | "elicitation.resolved"
>;

const actions = { accept: "Answered", decline: "Declined", cancel: "Dismissed" } as const;

export function applyQuestion(state: Conversation, event: QuestionEvent): Conversation {
  switch (event.type) {
    case "approval.requested":
      return markWaiting(state, approvalOf(event));
    case "approval.resolved":
      return resolveApproval(state, event);
    case "elicitation.requested":
      return showQuestion(state, elicitationOf(event), event.at);
    case "elicitation.resolved":
      return resolveElicitation(state, event);
  }
}

/** In the flow stands that it was asked; the form is above the composer. */
export function showQuestion(
  state: Conversation,
  { elicitation_id, message, subagent_id }: PendingElicitation,
  at: string,
): Conversation {
  return changeThread(state, subagent_id, (thread) =>
    putItem(thread, {
      ...{ kind: "question", key: elicitation_id, at, position: undefined },
      ...{ text: message, outcome: undefined },
    }),
  );
}

export function markWaiting(state: Conversation, approval: PendingApproval): Conversation {
  const { call_id, subagent_id } = approval;
  return changeCall(state, { call_id, subagent_id }, (call) => ({ ...call, status: "waiting" }));
}

function resolveApproval(
  state: Conversation,
  event: AgentEventOf<"approval.resolved">,
): Conversation {
  const { approval_id, decision, reason, subagent_id, at, by } = event;
  const asked = state.approvals.find((approval) => approval.approval_id === approval_id);
  if (asked?.kind === "max_iterations") {
    const text = decision === "reject" ? "It was told to stop here." : "It was told to go on.";
    const key = keyAt(threadOf(state, subagent_id), event);
    return addNote(state, subagent_id, { key, at, text });
  }
  // It waited for a person until now, and that is none of its own time.
  return changeCall(state, { call_id: asked?.call_id, subagent_id }, (call) => ({
    ...call,
    status: decision === "reject" ? "rejected" : "running",
    started_at: at,
    // Whoever stopped everything has not said no to this one.
    ...(by === "interrupt" ? {} : { decision, reason }),
  }));
}

function resolveElicitation(
  state: Conversation,
  event: AgentEventOf<"elicitation.resolved">,
): Conversation {
  const { elicitation_id, action, content, subagent_id } = event;
  return changeThread(state, subagent_id, (thread) => {
    const question = findItem(thread, "question", elicitation_id);
    if (question === undefined) return thread;
    const given = content === undefined ? "" : `: ${sayContent(content)}`;
    return putItem(thread, { ...question, outcome: `${actions[action]}${given}` });
  });
}

const CONTENT_CHARS = 500;

function sayContent(content: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(content);
  const said = values.map(([name, value]) =>
    values.length === 1 ? String(value) : `${name} = ${String(value)}`,
  );
  return said.join(", ").slice(0, CONTENT_CHARS).toWellFormed();
}
