import type { AgentEventOf } from "#contract/agent/events.ts";
import type { SessionEvent } from "#contract/events.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import {
  applyUser,
  dropOpen,
  endAnswer,
  endReasoning,
  growAnswer,
  startAnswer,
} from "./state/answers.ts";
import { applyCall, stopCalls } from "./state/calls.ts";
import { applyQuestion, dropQuestions } from "./state/questions.ts";
import { applySubagent, meetSubagent } from "./state/subagents.ts";
import { addNote, changeThread, emptyThread, keyAt, putItem, threadOf } from "./state/thread.ts";
import type { Activity, Conversation } from "./state/types.ts";

export const emptyConversation: Conversation = {
  main: emptyThread,
  subagents: new Map(),
  total: 0,
  first: 0,
  approvals: [],
  elicitations: [],
  queue: [],
  agents: [],
  agent: "",
  model: "",
  welcome: undefined,
  turn_id: undefined,
  isCut: false,
  isCompacting: false,
  permissions: { team: {}, session: {}, safety: "balanced" },
  usage: { input_tokens: 0, output_tokens: 0, cost: 0 },
  context_tokens: 0,
  context_limit: null,
};

/**
 * The conversation as the session's events tell it. What a snapshot tells and the events behind it give the same as all
 * events from the first one on, but for what only events tell: notices, sub-agents, and how long a call took. An event of
 * a kind that is not known here changes nothing.
 */
export function applyEvent(state: Conversation, event: AnyEvent): Conversation {
  const met = meet(state, event);
  const said = applyTalk(met, event);
  return said === met ? applySession(met, event) : said;
}

/** As the session's own state: what a cut worker had asked is asked no more. */
export function activityOf(state: Conversation): Activity {
  if (state.isCut) return "idle";
  if (state.approvals.length + state.elicitations.length > 0) return "waiting";
  return state.turn_id === undefined ? "idle" : "running";
}

function meet(state: Conversation, event: AnyEvent): Conversation {
  if (!("subagent_id" in event) || event.subagent_id === undefined) return state;
  if (event.type === "subagent.started" || event.type === "subagent.ended") return state;
  return meetSubagent(state, { ...event, subagent_id: event.subagent_id });
}

function applyTalk(state: Conversation, event: AnyEvent): Conversation {
  switch (event.type) {
    case "message.user":
      return applyUser(state, event);
    case "message.start":
      return startAnswer(state, event);
    case "message.delta":
    case "reasoning.delta":
      return growAnswer(state, event);
    case "reasoning.end":
      return endReasoning(state, event);
    case "message.end":
      return endAnswer(state, event);
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
    case "turn.started":
      if (event.subagent_id !== undefined) return state;
      return { ...state, turn_id: event.turn_id, isCut: false };
    case "turn.ended":
      return event.subagent_id === undefined ? endTurn(state, event) : state;
    default:
      return state;
  }
}

function applySession(state: Conversation, event: AnyEvent): Conversation {
  switch (event.type) {
    case "team.info":
      return applyTeam(state, event);
    case "agent.info":
      return event.subagent_id === undefined ? applyAgent(state, event) : state;
    case "agent.switched":
      return note({ ...state, agent: event.to }, event, `${event.to} goes on.`);
    case "permissions.changed": {
      const { permissions: session, safety } = event;
      return { ...state, permissions: { ...state.permissions, session, safety } };
    }
    case "usage.updated":
      return applyUsage(state, event);
    case "queue.changed":
      return applyQueue(state, event);
    case "compaction.started":
      return event.subagent_id === undefined ? { ...state, isCompacting: true } : state;
    case "compaction.ended":
      return endCompaction(state, event);
    case "error":
      return applyError(state, event);
    case "session.exited":
      return applyExit(state, event);
    default:
      return applyNotice(state, event);
  }
}

/** What is only told. */
function applyNotice(state: Conversation, event: AnyEvent): Conversation {
  switch (event.type) {
    case "warning":
    case "limit.reached":
      return warn(state, event, event.message);
    case "hook.blocked":
      return warn(state, event, `A hook said no: ${event.message}`);
    case "model.fallback":
      return warn(
        state,
        event,
        `${event.failed_model} failed, ${event.fallback_model} goes on: ${event.reason}`,
      );
    case "tools.changed":
      if (event.status !== "failed") return state;
      return warn(state, event, `The tools of ${event.toolset} failed: ${event.message ?? ""}`);
    default:
      return state;
  }
}

type Told = AnyEvent & { readonly subagent_id?: string | undefined };

function note(state: Conversation, event: Told, text: string): Conversation {
  const key = keyAt(threadOf(state, event.subagent_id), event);
  return addNote(state, event.subagent_id, { key, at: event.at, text });
}

function warn(state: Conversation, event: Told, text: string): Conversation {
  const key = keyAt(threadOf(state, event.subagent_id), event);
  return addNote(state, event.subagent_id, { key, at: event.at, text, tone: "warn" });
}

const turnEnds: Readonly<Record<string, string>> = {
  interrupted: "The turn was interrupted.",
  limit: "The turn has reached its limit.",
  loop: "The agent made the same call again and again, so the turn was ended.",
  budget: "The session has used up its budget.",
};

function endTurn(state: Conversation, event: AgentEventOf<"turn.ended">): Conversation {
  const stopped = stopCalls(dropQuestions(state, undefined), undefined);
  const next = {
    ...changeThread(stopped, undefined, dropOpen),
    turn_id: undefined,
    isCut: false,
    isCompacting: false,
  };
  // An error has said it itself.
  const why = turnEnds[event.reason];
  return why === undefined ? next : warn(next, event, event.message ?? why);
}

function applyTeam(state: Conversation, event: AgentEventOf<"team.info">): Conversation {
  const { agents, spec, permissions = {} } = event;
  return {
    ...state,
    agents,
    agent: state.agent === "" ? spec.agent : state.agent,
    permissions: {
      team: permissions,
      session: spec.permissions ?? {},
      safety: spec.safety ?? "balanced",
    },
  };
}

function applyAgent(state: Conversation, event: AgentEventOf<"agent.info">): Conversation {
  const { name: agent, model, context_limit, welcome_message: welcome } = event;
  return { ...state, agent, model, context_limit, welcome, isCut: false };
}

function applyUsage(state: Conversation, event: AgentEventOf<"usage.updated">): Conversation {
  const next = { ...state, usage: event.total };
  if (event.subagent_id !== undefined) return next;
  return { ...next, context_tokens: event.context_tokens, context_limit: event.context_limit };
}

function applyQueue(state: Conversation, event: AgentEventOf<"queue.changed">): Conversation {
  const { added, removed = [] } = event;
  const others = state.queue.filter(({ queue_id }) => queue_id !== added?.queue_id);
  const queue = added === undefined ? others : [...others, added];
  return { ...state, queue: queue.filter(({ queue_id }) => !removed.includes(queue_id)) };
}

function endCompaction(state: Conversation, event: AgentEventOf<"compaction.ended">): Conversation {
  const { outcome, summary, message, subagent_id, at } = event;
  const isOwn = subagent_id === undefined;
  const next = isOwn ? { ...state, isCompacting: false } : state;
  if (outcome !== "applied" || summary === undefined) {
    const why = message === undefined ? "" : `: ${message}`;
    return outcome === "failed"
      ? warn(next, event, `The history could not be made shorter${why}`)
      : note(next, event, `The history was not made shorter${why}`);
  }
  const said = changeThread(next, subagent_id, (thread) =>
    putItem(thread, {
      ...{ kind: "summary", key: messageKey(state, event), at, text: summary },
      position: isOwn ? state.total : undefined,
    }),
  );
  return isOwn ? { ...said, total: state.total + 1 } : said;
}

function applyError(state: Conversation, event: AgentEventOf<"error">): Conversation {
  const { subagent_id, at, code, message: text } = event;
  const isOwn = subagent_id === undefined;
  const next = changeThread(state, subagent_id, (thread) =>
    putItem(thread, {
      ...{ kind: "error", key: messageKey(state, event), at, code, text },
      position: isOwn ? state.total : undefined,
    }),
  );
  return isOwn ? { ...next, total: state.total + 1 } : next;
}

/** By its place in the transcript, as a snapshot would name it. */
function messageKey(state: Conversation, event: Told): string {
  return event.subagent_id === undefined
    ? `message-${state.total}`
    : keyAt(threadOf(state, event.subagent_id), event);
}

/** A worker that ends by itself was parked and comes back; any other end is a cut. */
function applyExit(
  state: Conversation,
  { state: end }: Extract<SessionEvent, { type: "session.exited" }>,
): Conversation {
  const isParked = end.kind === "exited" && end.reason === "exited" && end.exit_code === 0;
  if (isParked) return { ...state, isCut: false };
  return { ...state, isCut: true, isCompacting: false };
}
