import type { AgentEventOf } from "#contract/agent/events.ts";
import { applyStanding, emptyStanding } from "#contract/agent/standing.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import {
  applyUser,
  dropOpen,
  endAnswer,
  endReasoning,
  growAnswer,
  startAnswer,
} from "./answers.ts";
import { applyCall, stopCalls } from "./calls.ts";
import type { Conversation } from "./items.ts";
import { applyQuestion } from "./questions.ts";
import { applySubagent, meetSubagent } from "./subagents.ts";
import { addNote, changeThread, emptyThread, keyAt, putItem, threadOf } from "./thread.ts";

export const emptyConversation: Conversation = {
  ...emptyStanding,
  main: emptyThread,
  subagents: new Map(),
  total: 0,
  first: 0,
  welcome: undefined,
  permissions: { team: {}, session: {}, safety: "balanced" },
};

/**
 * The conversation as the session's events tell it. What a snapshot tells and the events behind it give the same as all
 * events from the first one on, but for what only events tell: notices, sub-agents, and how long a call took. An event of
 * a kind that is not known here changes nothing.
 */
export function applyEvent(state: Conversation, event: AnyEvent): Conversation {
  const met = meet(state, event);
  const said = applyTalk(met, event);
  return applyStanding(said === met ? applySession(met, event) : said, event);
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
      if (event.subagent_id !== undefined) return state;
      return { ...state, welcome: event.welcome_message };
    case "agent.switched":
      return note(state, event, `${event.to} goes on.`);
    case "permissions.changed": {
      const { permissions: session, safety } = event;
      return { ...state, permissions: { ...state.permissions, session, safety } };
    }
    case "compaction.ended":
      return endCompaction(state, event);
    case "error":
      return applyError(state, event);
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
  const next = changeThread(stopCalls(state, undefined), undefined, dropOpen);
  // An error has said it itself.
  const why = turnEnds[event.reason];
  return why === undefined ? next : warn(next, event, event.message ?? why);
}

function applyTeam(state: Conversation, event: AgentEventOf<"team.info">): Conversation {
  const { spec, permissions = {} } = event;
  return {
    ...state,
    permissions: {
      team: permissions,
      session: spec.permissions ?? {},
      safety: spec.safety ?? "balanced",
    },
  };
}

function endCompaction(state: Conversation, event: AgentEventOf<"compaction.ended">): Conversation {
  const { outcome, summary, message, subagent_id, at } = event;
  const isOwn = subagent_id === undefined;
  if (outcome !== "applied" || summary === undefined) {
    const why = message === undefined ? "" : `: ${message}`;
    return outcome === "failed"
      ? warn(state, event, `The history could not be made shorter${why}`)
      : note(state, event, `The history was not made shorter${why}`);
  }
  const said = changeThread(state, subagent_id, (thread) =>
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
