import { askedText, warnOfHidden } from "#cli/team/asked-text.ts";
import type { AgentEventOf } from "#contract/agent/events.ts";
import { approvalOf, elicitationOf } from "#contract/agent/standing.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { restartCall } from "./chat-calls.ts";
import { add, type ChatItem, type ChatState, depthOf, note } from "./chat-types.ts";

type QuestionEvent = AgentEventOf<
  "approval.requested" | "approval.resolved" | "elicitation.requested" | "elicitation.resolved"
>;

const decisions = {
  approve: "allowed once",
  approve_tool: "allowed, and this tool from now on",
  approve_session: "allowed, and everything from now on",
  reject: "refused",
} as const;
const actions = { accept: "answered", decline: "declined", cancel: "dismissed" } as const;

export function applyQuestion(state: ChatState, event: QuestionEvent): ChatState {
  switch (event.type) {
    case "approval.requested":
      return add(state, approvalItem(approvalOf(event), depthOf(state, event.subagent_id)));
    case "elicitation.requested":
      return add(state, questionItem(elicitationOf(event), depthOf(state, event.subagent_id)));
    case "approval.resolved":
      return resolveApproval(state, event);
    case "elicitation.resolved": {
      const depth = depthOf(state, event.subagent_id);
      return add(state, note(actions[event.action], "plain", depth));
    }
  }
}

function resolveApproval(state: ChatState, event: AgentEventOf<"approval.resolved">): ChatState {
  const { approval_id, decision, reason, subagent_id, at } = event;
  const asked = state.approvals.find((approval) => approval.approval_id === approval_id);
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  const tone = decision === "reject" ? "warning" : "good";
  const text = `${askedText(asked?.tool ?? "it")} is ${decisions[decision]}${why}`;
  return add(restartCall(state, asked?.call_id, at), note(text, tone, depthOf(state, subagent_id)));
}

/** Everything that is asked for stands above, whole: nobody allows what he has not seen. */
export function approvalItem({ tool, input, message }: PendingApproval, depth: number): ChatItem {
  const call = tool === undefined ? [] : [`${tool} ${JSON.stringify(input, null, 2) ?? ""}`];
  const detail = [...call.map(askedText), ...warnOfHidden([tool, input, message])].join("\n");
  return { kind: "asked", text: askedText(message), detail, depth };
}

export function questionItem({ message, schema }: PendingElicitation, depth: number): ChatItem {
  const detail = warnOfHidden([message, schema]).join("\n");
  return { kind: "asked", text: askedText(message), detail, depth };
}
