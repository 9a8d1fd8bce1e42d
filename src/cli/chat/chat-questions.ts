import type { AgentEventOf } from "#contract/agent/events.ts";
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
    case "approval.requested": {
      const { approval_id, kind, call_id, tool, input, message, agent, subagent_id } = event;
      const asked = { approval_id, kind, call_id, tool, input, message, agent, subagent_id };
      const approval: PendingApproval = dropUndefined(asked);
      const next = { ...state, approvals: [...state.approvals, approval] };
      return add(next, approvalItem(approval, depthOf(state, subagent_id)));
    }
    case "elicitation.requested": {
      const { elicitation_id, call_id, message, schema, agent, subagent_id } = event;
      const asked = { elicitation_id, call_id, message, schema, agent, subagent_id };
      const question: PendingElicitation = dropUndefined(asked);
      const next = { ...state, elicitations: [...state.elicitations, question] };
      return add(next, questionItem(question, depthOf(state, subagent_id)));
    }
    case "approval.resolved":
      return resolveApproval(state, event);
    case "elicitation.resolved": {
      const { elicitation_id, action, subagent_id } = event;
      const elicitations = state.elicitations.filter(
        (question) => question.elicitation_id !== elicitation_id,
      );
      return add(
        { ...state, elicitations },
        note(actions[action], "plain", depthOf(state, subagent_id)),
      );
    }
  }
}

function resolveApproval(state: ChatState, event: AgentEventOf<"approval.resolved">): ChatState {
  const { approval_id, decision, reason, subagent_id, at } = event;
  const asked = state.approvals.find((approval) => approval.approval_id === approval_id);
  const approvals = state.approvals.filter((approval) => approval !== asked);
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  const tone = decision === "reject" ? "warning" : "good";
  const text = `${asked?.tool ?? "it"} is ${decisions[decision]}${why}`;
  return add(
    restartCall({ ...state, approvals }, asked?.call_id, at),
    note(text, tone, depthOf(state, subagent_id)),
  );
}

/** Everything that is asked for stands above, whole: nobody allows what he has not seen. */
export function approvalItem({ tool, input, message }: PendingApproval, depth: number): ChatItem {
  const detail = tool === undefined ? "" : `${tool} ${JSON.stringify(input, null, 2) ?? ""}`;
  return { kind: "asked", text: message, detail, depth };
}

export function questionItem({ message }: PendingElicitation, depth: number): ChatItem {
  return { kind: "asked", text: message, detail: "", depth };
}

/** Who has ended waits for no answer. */
export function dropQuestions(state: ChatState, subagentId: string | undefined): ChatState {
  return {
    ...state,
    approvals: state.approvals.filter(({ subagent_id }) => subagent_id !== subagentId),
    elicitations: state.elicitations.filter(({ subagent_id }) => subagent_id !== subagentId),
  };
}

type Dropped<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function dropUndefined<T extends object>(value: T): Dropped<T> {
  const kept = Object.entries(value).filter(([, entry]) => entry !== undefined);
  // Only what was undefined is gone.
  return Object.fromEntries(kept) as Dropped<T>;
}
