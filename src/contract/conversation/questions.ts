import type { AgentEventOf } from "#contract/agent/events.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { changeCall, isUnderWay, runCall } from "./calls.ts";
import type { Conversation } from "./items.ts";
import { approvalOf, elicitationOf } from "./session-facts.ts";
import { meetSubagent } from "./subagents.ts";
import { changeThread, findItem, putItem, threadOf } from "./thread.ts";

type QuestionEvent = AgentEventOf<
  "approval.requested" | "approval.resolved" | "elicitation.requested" | "elicitation.resolved"
>;

export function applyQuestion(state: Conversation, event: QuestionEvent): Conversation {
  switch (event.type) {
    case "approval.requested":
      return addApproval(state, approvalOf(event), event.at);
    case "approval.resolved":
      return resolveApproval(state, event);
    case "elicitation.requested":
      return addQuestion(state, elicitationOf(event), event.at);
    case "elicitation.resolved":
      return resolveQuestion(state, event);
  }
}

export function addApproval(state: Conversation, asked: PendingApproval, at: string): Conversation {
  const { approval_id: key, subagent_id } = asked;
  const shown = changeThread(meetSubagent(state, asked, at), subagent_id, (thread) =>
    putItem(thread, { kind: "approval", key, at, position: undefined, asked, answer: undefined }),
  );
  return awaitApproval(shown, asked);
}

export function awaitApproval(
  state: Conversation,
  { call_id, subagent_id }: PendingApproval,
): Conversation {
  return changeCall(state, { call_id, subagent_id }, (call) =>
    isUnderWay(call.status) && call.status !== "waiting" ? { ...call, status: "waiting" } : call,
  );
}

export function addQuestion(
  state: Conversation,
  asked: PendingElicitation,
  at: string,
): Conversation {
  const { elicitation_id: key, call_id, subagent_id } = asked;
  const shown = changeThread(meetSubagent(state, asked, at), subagent_id, (thread) =>
    putItem(thread, { kind: "question", key, at, position: undefined, asked, answer: undefined }),
  );
  return changeCall(shown, { call_id, subagent_id }, (call) => runCall(call, at));
}

function resolveApproval(
  state: Conversation,
  event: AgentEventOf<"approval.resolved">,
): Conversation {
  const { approval_id, decision, reason, subagent_id, at, by } = event;
  const item = findItem(threadOf(state, subagent_id), "approval", approval_id);
  if (item === undefined) return state;
  const answered = changeThread(state, subagent_id, (thread) =>
    putItem(thread, { ...item, answer: { decision, reason, by } }),
  );
  const { call_id } = item.asked;
  const isAskedAgain = state.approvals.some(
    (other) => other.call_id === call_id && other.approval_id !== approval_id,
  );
  if (isAskedAgain) return answered;
  return changeCall(answered, { call_id, subagent_id }, (call) =>
    call.status === "waiting"
      ? {
          ...call,
          status: decision === "reject" ? "rejected" : "running",
          // The time that a call waits for a person is not its own.
          started_at: at,
          // An interrupt of the whole turn is not a refusal of this call.
          ...(by === "interrupt" ? {} : { decision, reason }),
        }
      : call,
  );
}

function resolveQuestion(
  state: Conversation,
  event: AgentEventOf<"elicitation.resolved">,
): Conversation {
  const { elicitation_id, action, content, subagent_id } = event;
  return changeThread(state, subagent_id, (thread) => {
    const question = findItem(thread, "question", elicitation_id);
    return question === undefined
      ? thread
      : putItem(thread, { ...question, answer: { action, content } });
  });
}
