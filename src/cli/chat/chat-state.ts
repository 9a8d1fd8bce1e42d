import type { AgentEventOf } from "#contract/agent/events.ts";
import { applyStanding, emptyStanding } from "#contract/agent/standing.ts";
import { isResumable, isSleeping } from "#contract/ended.ts";
import type { SessionEvent } from "#contract/events.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { applyReasoning, applyUser, endAnswer, growAnswer, startAnswer } from "./chat-answers.ts";
import { applyCall } from "./chat-calls.ts";
import { applyQuestion } from "./chat-questions.ts";
import { add, type ChatState, depthOf, note } from "./chat-types.ts";

export const emptyChat: ChatState = {
  ...emptyStanding,
  items: [],
  written: 0,
  answers: [],
  calls: [],
  subagents: [],
  hasBegun: false,
  isUnfolded: false,
  lastCall: undefined,
  ended: undefined,
};

/**
 * The chat view as the session's events tell it. What has ended becomes an item, which is written above once and never
 * drawn again; what is under way is kept apart and drawn anew each time.
 */
export function applyEvent(state: ChatState, event: AnyEvent): ChatState {
  const talked = applyTalk(state, event);
  return applyStanding(talked === state ? applySession(state, event) : talked, event);
}

/** Those above have been drawn. */
export function markWritten(state: ChatState, total: number): ChatState {
  const drawn = Math.min(Math.max(0, total - state.written), state.items.length);
  if (drawn === 0) return state;
  return { ...state, items: state.items.slice(drawn), written: state.written + drawn };
}

/** Calls are shown whole from now on; with nothing under way the last one is shown at once. */
export function toggleUnfolded(state: ChatState): ChatState {
  const isUnfolded = !state.isUnfolded;
  const { lastCall: call } = state;
  const next = { ...state, isUnfolded };
  if (!isUnfolded || call === undefined || state.calls.length > 0) return next;
  return add(next, { kind: "call", call, isUnfolded, depth: 0 });
}

function applyTalk(state: ChatState, event: AnyEvent): ChatState {
  switch (event.type) {
    case "message.user":
      return applyUser(state, event);
    case "message.start":
      return startAnswer(state, event);
    case "message.delta":
      return growAnswer(state, event);
    case "message.end":
      return endAnswer(state, event);
    case "reasoning.delta":
      return applyReasoning(state, event);
    case "tool.call.start":
    case "tool.call.end":
    case "tool.output":
    case "tool.result":
      return applyCall(state, event);
    case "approval.requested":
    case "approval.resolved":
    case "elicitation.requested":
    case "elicitation.resolved":
      return applyQuestion(state, event);
    case "subagent.started":
    case "subagent.ended":
      return applySubagent(state, event);
    case "turn.ended":
      return endTurn(state, event);
    default:
      return state;
  }
}

function applySession(state: ChatState, event: AnyEvent): ChatState {
  switch (event.type) {
    case "agent.info":
      return event.subagent_id === undefined ? applyAgent(state, event) : state;
    case "agent.switched":
      return add(state, note(`${event.to} goes on`));
    case "compaction.ended":
      return endCompaction(state, event);
    case "session.exited":
      return applyExit(state, event);
    default:
      return applyNotice(state, event);
  }
}

/** What is only told. */
function applyNotice(state: ChatState, event: AnyEvent): ChatState {
  const depth = depthOf(state, "subagent_id" in event ? event.subagent_id : undefined);
  switch (event.type) {
    case "error":
      return add(state, { kind: "failure", text: event.message, depth });
    case "warning":
    case "hook.blocked":
    case "limit.reached":
      return add(state, note(event.message, "warning", depth));
    case "model.fallback": {
      const text = `${event.failed_model} failed, ${event.fallback_model} goes on: ${event.reason}`;
      return add(state, note(text, "warning", depth));
    }
    case "tools.changed":
      if (event.status !== "failed") return state;
      return add(state, note(`${event.toolset} failed: ${event.message ?? ""}`, "warning", depth));
    default:
      return state;
  }
}

type SubagentEvent = AgentEventOf<"subagent.started" | "subagent.ended">;

function applySubagent(state: ChatState, event: SubagentEvent): ChatState {
  const { subagent_id, name } = event;
  if (subagent_id === undefined) return state;
  if (event.type === "subagent.started") {
    const parent = state.calls.find(({ call_id }) => call_id === event.call_id);
    const depth = depthOf(state, parent?.subagent_id) + 1;
    const subagents = [...state.subagents, { subagent_id, name, depth }];
    return add({ ...state, subagents }, note(`${name} works on: ${event.task}`, "plain", depth));
  }
  const depth = depthOf(state, subagent_id);
  const isOther = (of: { readonly subagent_id: string | undefined }) =>
    of.subagent_id !== subagent_id;
  const left = {
    ...state,
    answers: state.answers.filter(isOther),
    calls: state.calls.filter(isOther),
    subagents: state.subagents.filter(isOther),
  };
  const tone = event.outcome === "done" ? "plain" : "warning";
  return add(left, note(`${name}: ${event.outcome}`, tone, depth));
}

const turnEnds: Readonly<Record<string, string>> = {
  interrupted: "the turn was interrupted",
  error: "the turn failed",
  limit: "the turn has reached its limit",
  loop: "the agent made the same call again and again",
  budget: "the session has used up its budget",
};

function endTurn(state: ChatState, event: AgentEventOf<"turn.ended">): ChatState {
  const isOther = (of: { readonly subagent_id: string | undefined }) =>
    of.subagent_id !== undefined;
  const next = {
    ...state,
    answers: state.answers.filter(isOther),
    calls: state.calls.filter(isOther),
  };
  const why = turnEnds[event.reason];
  // The error itself has said it.
  if (why === undefined || event.reason === "error") return next;
  return add(next, note(event.message ?? why, "warning"));
}

function applyAgent(state: ChatState, event: AgentEventOf<"agent.info">): ChatState {
  const { name, welcome_message } = event;
  const isMet = state.hasBegun || state.agent === name;
  return isMet || welcome_message === undefined ? state : add(state, note(welcome_message));
}

function endCompaction(state: ChatState, event: AgentEventOf<"compaction.ended">): ChatState {
  const { outcome, summary, message, subagent_id } = event;
  const depth = depthOf(state, subagent_id);
  if (outcome === "applied" && summary !== undefined)
    return add(state, { kind: "summary", text: summary, depth });
  const text = `the history was not made shorter${message === undefined ? "" : `: ${message}`}`;
  return add(state, note(text, outcome === "failed" ? "warning" : "plain", depth));
}

/** A worker that ends by itself was parked and comes back; any other end is a cut, or meant for good. */
function applyExit(
  state: ChatState,
  { state: end }: Extract<SessionEvent, { type: "session.exited" }>,
): ChatState {
  if (end.kind !== "exited" && end.kind !== "lost") return state;
  if (!isResumable({ kind: "agent", state: end })) return { ...state, ended: end.reason };
  if (isSleeping({ state: end })) return state;
  const text = "the agent's process has ended; the next message starts it again";
  return add(state, note(text, "warning"));
}
