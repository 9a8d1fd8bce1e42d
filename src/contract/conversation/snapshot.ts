import {
  type AgentStatus,
  activityOf,
  emptyAgentStatus,
  reduceAgentStatus,
} from "#contract/agent/agent-status.ts";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { openAnswer } from "./answers.ts";
import { callOf, endOf, runNext } from "./calls.ts";
import { emptyConversation } from "./conversation.ts";
import type { CallItem, Conversation, Item } from "./items.ts";
import { shortAnswers } from "./notices.ts";
import { addApproval, addQuestion, awaitApproval } from "./questions.ts";
import { factsOf } from "./session-facts.ts";
import { keepTail, REASONING_CHARS } from "./text.ts";
import { putItem, weighAll } from "./thread.ts";

/** Earlier messages that one request reads. */
const EARLIER_MESSAGES = 100;

/** The session as it is; apply the events from `events_tail` on. */
export function fromSnapshot(snapshot: AgentSnapshot, empty = emptyConversation): Conversation {
  const { transcript, omitted_messages, approvals, elicitations } = snapshot;
  const at = transcript.at(-1)?.at ?? new Date(0).toISOString();
  const items = itemsOf(transcript, omitted_messages, { isOver: snapshot.activity === "idle" });
  const said: Conversation = {
    ...empty,
    ...factsOf(snapshot),
    status: statusOf(snapshot, at),
    permissions: snapshot.permissions,
    main: { items, weight: weighAll(items) },
    total: omitted_messages + transcript.length,
    first: omitted_messages,
    welcome: snapshot.welcome_message,
  };
  const open = openPartial(said, snapshot, at);
  const asking = approvals.reduce((state, asked) => addApproval(state, asked, at), open);
  return elicitations.reduce((state, asked) => addQuestion(state, asked, at), runCalls(asking));
}

/** An idle agent with waiting messages was stopped, or has crashed too often. */
function statusOf(snapshot: AgentSnapshot, at: string): AgentStatus {
  const { agent, model, turn_id, queue, usage, context_tokens, context_limit } = snapshot;
  const { is_cut = false } = snapshot;
  const status: AgentStatus = {
    ...emptyAgentStatus,
    ...{ agent, model, has_begun: true, is_cut },
    is_held: snapshot.activity === "idle" && queue.waiting.length > 0,
    turn: turn_id === null ? null : { turn_id, started_at: at },
    queue: queue.waiting.map(({ queue_id }) => queue_id),
    usage: { ...usage, cost_is_partial: false, context_tokens, context_limit },
  };
  return [
    ...snapshot.approvals.map((asked) => ({ ...asked, type: "approval.requested", at })),
    ...snapshot.elicitations.map((asked) => ({ ...asked, type: "elicitation.requested", at })),
  ].reduce(reduceAgentStatus, status);
}

function openPartial(
  state: Conversation,
  { partial, model }: AgentSnapshot,
  at: string,
): Conversation {
  if (partial === null) return state;
  const { message_id, agent, text, reasoning, tool_calls = [] } = partial;
  const answer = openAnswer({ message_id, agent, model, at });
  const calls = tool_calls.map((call) => callOf({ ...call, message_id, at }));
  const open = { ...answer, text, reasoning, hasReasoned: reasoning !== "" };
  return { ...state, main: [open, ...calls].reduce(putItem, state.main) };
}

/** The transcript does not contain when the answer of a call ended; its start is near. */
function runCalls(state: Conversation): Conversation {
  const queued = state.main.items.filter(
    (item) => item.kind === "call" && item.status === "queued",
  );
  const main = queued.reduce(
    (thread, item) => (item.kind === "call" ? runNext(thread, item.message_id, item.at) : thread),
    state.main,
  );
  return { ...state, main };
}

/** Messages from `position` on, as items; a result becomes a part of its call. */
export function itemsOf(
  messages: readonly TranscriptMessage[],
  position: number,
  { isOver }: { readonly isOver: boolean },
): readonly Item[] {
  const items = new Map<string, Item>();
  for (const [index, message] of messages.entries())
    for (const item of readMessage(message, position + index, items)) items.set(keyOf(item), item);
  if (!isOver) return [...items.values()];
  return [...items.values()].map((item) =>
    item.kind === "call" && item.result === undefined ? { ...item, status: "stopped" } : item,
  );
}

const keyOf = ({ kind, key }: Pick<Item, "kind" | "key">) => `${kind}:${key}`;

function readMessage(
  message: TranscriptMessage,
  position: number,
  items: ReadonlyMap<string, Item>,
): readonly Item[] {
  const { at } = message;
  switch (message.role) {
    case "user": {
      const { message_id: key, content, origin } = message;
      return [{ kind: "user", key, at, content, origin, framing: "plain", position }];
    }
    case "assistant":
      return readAnswer(message, position);
    case "tool": {
      const known = items.get(keyOf({ kind: "call", key: message.call_id }));
      const call = known?.kind === "call" ? known : callOf(message);
      return [{ ...call, ...endOf(call, message), position }];
    }
    case "summary":
      return [{ kind: "summary", key: `message-${position}`, at, text: message.text, position }];
    case "error": {
      const { code, message: text } = message;
      return [{ kind: "error", key: `message-${position}`, at, code, text, position }];
    }
  }
}

function readAnswer(
  message: Extract<TranscriptMessage, { role: "assistant" }>,
  position: number,
): readonly Item[] {
  const { message_id, at, text, reasoning = "", tool_calls, interrupted = false } = message;
  const answer: Item = {
    ...openAnswer(message),
    ...{ text, position, isOpen: false, isInterrupted: interrupted },
    reasoning: keepTail(reasoning, REASONING_CHARS),
    hasReasoned: reasoning !== "",
    cut: shortAnswers[message.stop_reason],
  };
  const calls = tool_calls.map(
    (call): Item => ({ ...callOf({ ...call, message_id, at }), status: "queued" }),
  );
  return [answer, ...calls];
}

/** The messages before the first that is kept; undefined = there are none, or the bounds leave no room. */
export function earlierPage(state: Conversation): { from: number; limit: number } | undefined {
  const isFull = state.main.items.length + 3 * EARLIER_MESSAGES > state.bounds.items;
  if (state.first === 0 || isFull) return undefined;
  const from = Math.max(0, state.first - EARLIER_MESSAGES);
  return { from, limit: state.first - from };
}

/** Puts earlier messages in front. */
export function addEarlier(state: Conversation, page: Transcript): Conversation {
  const { position, messages } = page;
  // The front has changed since the request: a page that does not fit exactly is dropped.
  if (position + messages.length !== state.first) return state;
  const results = new Map(
    state.main.items.flatMap((item) => (item.kind === "call" ? [[item.key, item] as const] : [])),
  );
  const earlier = itemsOf(messages, position, { isOver: activityOf(state.status) === "idle" }).map(
    (item) => {
      const later = item.kind === "call" ? results.get(item.key) : undefined;
      return item.kind === "call" && later !== undefined ? { ...later, ...inputOf(item) } : item;
    },
  );
  const moved = new Set(earlier.map(keyOf));
  const kept = state.main.items.filter((item) => !moved.has(keyOf(item)));
  const items = [...earlier, ...kept];
  const joined = { ...state, first: position, main: { items, weight: weighAll(items) } };
  return runCalls(state.approvals.reduce(awaitApproval, joined));
}

function inputOf({ input, message_id, at }: CallItem) {
  return { input, message_id, at };
}
