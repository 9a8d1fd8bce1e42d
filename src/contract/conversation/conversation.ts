import { emptyAgentStatus, reduceAgentStatus } from "#contract/agent/agent-status.ts";
import type { AgentEventOf } from "#contract/agent/events.ts";
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
import type { Bounds, Conversation } from "./items.ts";
import { noticeOf } from "./notices.ts";
import { applyQuestion } from "./questions.ts";
import { applyFacts, noFacts } from "./session-facts.ts";
import { applySubagent, meetSubagent } from "./subagents.ts";
import { addNote, changeThread, emptyThread, keyAt, putItem, threadOf } from "./thread.ts";
import { applyTurn, noTurn } from "./turn-outcome.ts";

/** For a reader who scrolls back. */
const WHOLE: Bounds = {
  items: 1500,
  weight: 16 * 1024 * 1024,
  subagents: 100,
  subagent_items: 300,
};

/** For a reader who keeps the past elsewhere. */
const RECENT: Bounds = {
  items: 300,
  weight: 4 * 1024 * 1024,
  subagents: 20,
  subagent_items: 60,
};

/** For the worker, which keeps the past in its history and reads only the open items. */
const OPEN: Bounds = { ...RECENT, items: 50, subagent_items: 20 };

export const emptyConversation: Conversation = {
  ...noFacts,
  ...noTurn,
  status: emptyAgentStatus,
  main: emptyThread,
  subagents: new Map(),
  total: 0,
  first: 0,
  welcome: undefined,
  permissions: { team: {}, session: {}, safety: "balanced" },
  bounds: WHOLE,
};

export const recentConversation: Conversation = { ...emptyConversation, bounds: RECENT };
export const openConversation: Conversation = { ...emptyConversation, bounds: OPEN };

/**
 * The one reducer of an agent's session: the worker, the page, the chat view, exports and MCP apply events with it.
 *
 *   empty ── event ──→ conversation ── event ──→ conversation …
 *   snapshot ────────→ conversation ── the events behind the snapshot ──→ the same conversation
 *
 * Only events describe notes, answered questions, sub-agents, and when a call began; a snapshot does not. What an event
 * does not change keeps its identity. An event of an unknown type changes nothing.
 */
export function applyEvent(state: Conversation, event: AnyEvent): Conversation {
  const status = reduceAgentStatus(state.status, event);
  const met = meet(status === state.status ? state : { ...state, status }, event);
  const said = applyTalk(met, event);
  const told = said === met ? applySession(met, event) : said;
  return applyTurn(applyFacts(told, event), event);
}

function meet(state: Conversation, event: AnyEvent): Conversation {
  if (!("subagent_id" in event)) return state;
  if (event.type === "subagent.started" || event.type === "subagent.ended") return state;
  return meetSubagent(state, event, event.at);
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
    case "permissions.changed": {
      const { permissions: session, safety } = event;
      return { ...state, permissions: { ...state.permissions, session, safety } };
    }
    case "compaction.ended":
      return endCompaction(state, event);
    case "error": {
      const { code, message: text } = event;
      return addMessage(state, event, { kind: "error", code, text });
    }
    case "turn.ended":
      return event.subagent_id === undefined ? endTurn(state, event) : state;
    case "session.exited":
      return state.status.is_cut ? stopAll(state) : state;
    default:
      return addNotice(state, event);
  }
}

function addNotice(state: Conversation, event: AnyEvent): Conversation {
  const notice = noticeOf(event);
  return notice === undefined ? state : addNote(state, event, notice);
}

function endTurn(state: Conversation, event: AgentEventOf<"turn.ended">): Conversation {
  const over = changeThread(state, undefined, (thread) => dropOpen(stopCalls(thread)));
  return addNotice(over, event);
}

/** The worker is gone, and everything that it did with it. */
function stopAll(state: Conversation): Conversation {
  return [undefined, ...state.subagents.keys()].reduce(
    (stopped: Conversation, id) => changeThread(stopped, id, stopCalls),
    state,
  );
}

function applyTeam(state: Conversation, event: AgentEventOf<"team.info">): Conversation {
  const { spec, permissions: team = {} } = event;
  const { permissions: session = {}, safety = "balanced" } = spec;
  return { ...state, permissions: { team, session, safety } };
}

function endCompaction(state: Conversation, event: AgentEventOf<"compaction.ended">): Conversation {
  const { outcome, summary: text } = event;
  return outcome === "applied" && text !== undefined
    ? addMessage(state, event, { kind: "summary", text })
    : addNotice(state, event);
}

/** A message of the transcript without an id: its key is its position, as in a snapshot. */
function addMessage(
  state: Conversation,
  event: AgentEventOf<"error" | "compaction.ended">,
  message:
    | { readonly kind: "error"; readonly code: string; readonly text: string }
    | { readonly kind: "summary"; readonly text: string },
): Conversation {
  const { subagent_id, at } = event;
  const { total } = state;
  const isOwn = subagent_id === undefined;
  const key = isOwn ? `message-${total}` : keyAt(threadOf(state, subagent_id), event);
  const position = isOwn ? total : undefined;
  const next = changeThread(state, subagent_id, (thread) =>
    putItem(thread, { ...message, key, at, position }),
  );
  return isOwn ? { ...next, total: total + 1 } : next;
}
