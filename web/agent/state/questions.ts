import type { AgentEventOf } from "#contract/agent/events.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { changeCall } from "./calls.ts";
import { addNote, changeThread, findItem, keyAt, putItem, threadOf } from "./thread.ts";
import type { Conversation } from "./types.ts";

type QuestionEvent = AgentEventOf<
  "approval.requested" | "approval.resolved" | "elicitation.requested" | "elicitation.resolved"
>;

const actions = { accept: "Answered", decline: "Declined", cancel: "Dismissed" } as const;

export function applyQuestion(state: Conversation, event: QuestionEvent): Conversation {
  switch (event.type) {
    case "approval.requested":
      return askApproval(state, event);
    case "approval.resolved":
      return resolveApproval(state, event);
    case "elicitation.requested": {
      const { elicitation_id, message, schema, at } = event;
      const question = { elicitation_id, message, schema, ...whoAsks(event) };
      const others = state.elicitations.filter((asked) => asked.elicitation_id !== elicitation_id);
      const next = { ...state, elicitations: [...others, question] };
      return showQuestion(next, question, at);
    }
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

function askApproval(state: Conversation, event: AgentEventOf<"approval.requested">): Conversation {
  const { approval_id, kind, tool, input, message } = event;
  const approval: PendingApproval = {
    ...{ approval_id, kind, message, ...whoAsks(event) },
    ...(tool === undefined ? {} : { tool }),
    ...(input === undefined ? {} : { input }),
  };
  const others = state.approvals.filter((asked) => asked.approval_id !== approval_id);
  return markWaiting({ ...state, approvals: [...others, approval] }, approval);
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
  const next = {
    ...state,
    approvals: state.approvals.filter((approval) => approval !== asked),
  };
  if (asked?.kind === "max_iterations") {
    const text = decision === "reject" ? "It was told to stop here." : "It was told to go on.";
    const key = keyAt(threadOf(next, subagent_id), event);
    return addNote(next, subagent_id, { key, at, text });
  }
  // It waited for a person until now, and that is none of its own time.
  return changeCall(next, { call_id: asked?.call_id, subagent_id }, (call) => ({
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
  const elicitations = state.elicitations.filter(
    (question) => question.elicitation_id !== elicitation_id,
  );
  const next = { ...state, elicitations };
  return changeThread(next, subagent_id, (thread) => {
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

/** Who has ended waits for no answer. */
export function dropQuestions(state: Conversation, subagentId: string | undefined): Conversation {
  const isOther = (asked: { readonly subagent_id?: string | undefined }) =>
    asked.subagent_id !== subagentId;
  return {
    ...state,
    approvals: state.approvals.filter(isOther),
    elicitations: state.elicitations.filter(isOther),
  };
}

function whoAsks(event: {
  readonly call_id?: string | undefined;
  readonly agent?: string | undefined;
  readonly subagent_id?: string | undefined;
}) {
  const { call_id, agent, subagent_id } = event;
  return {
    ...(call_id === undefined ? {} : { call_id }),
    ...(agent === undefined ? {} : { agent }),
    ...(subagent_id === undefined ? {} : { subagent_id }),
  };
}
