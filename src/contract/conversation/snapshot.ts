import type { TranscriptMessage } from "#contract/agent/message.ts";
import { standingOf } from "#contract/agent/standing.ts";
import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { openAnswer, sayCut } from "./answers.ts";
import { callOf } from "./calls.ts";
import type { CallItem, Conversation, Item } from "./items.ts";
import { markWaiting, showQuestion } from "./questions.ts";
import { keepEnds, keepTail, REASONING_CHARS, RESULT_CHARS } from "./text.ts";
import { ITEMS_MOST, putItem, weighAll } from "./thread.ts";

/** How many earlier messages are read at once. */
export const EARLIER_MESSAGES = 100;

/** The session as it is; the events from `events_tail` on go on from here. */
export function fromSnapshot(snapshot: AgentSnapshot, empty: Conversation): Conversation {
  const { transcript, omitted_messages, partial } = snapshot;
  const at = transcript.at(-1)?.at ?? new Date(0).toISOString();
  const isIdle = snapshot.activity === "idle";
  const items = itemsOf(transcript, omitted_messages, { isOver: isIdle });
  const base: Conversation = {
    ...empty,
    ...standingOf(snapshot),
    permissions: snapshot.permissions,
    main: { items, weight: weighAll(items) },
    total: omitted_messages + transcript.length,
    first: omitted_messages,
    welcome: snapshot.welcome_message,
  };
  const open = openPartial(base, partial, at);
  const waiting = snapshot.approvals.reduce(markWaiting, open);
  return snapshot.elicitations.reduce((state, asked) => showQuestion(state, asked, at), waiting);
}

function openPartial(
  state: Conversation,
  partial: AgentSnapshot["partial"],
  at: string,
): Conversation {
  if (partial === null) return state;
  const { message_id, agent, text, reasoning, tool_calls = [] } = partial;
  const answer = { ...openAnswer({ message_id, agent, at }), text, reasoning };
  const calls = tool_calls.map((call) => callOf({ ...call, message_id, at }));
  return { ...state, main: [answer, ...calls].reduce(putItem, state.main) };
}

/** Messages from `position` on, as items; a result stands with its call. */
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
  known: ReadonlyMap<string, Item>,
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
      const call = known.get(keyOf({ kind: "call", key: message.call_id }));
      return [endedCall(call?.kind === "call" ? call : callOf(message), message, position)];
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
  const { message_id, at, agent, text, reasoning = "", tool_calls, interrupted = false } = message;
  const answer: Item = {
    ...openAnswer({ message_id, agent, at }),
    ...{ text, position, isOpen: false, isInterrupted: interrupted },
    reasoning: keepTail(reasoning, REASONING_CHARS),
    cut: sayCut(message.stop_reason),
  };
  const calls = tool_calls.map(
    (call): Item => ({
      ...callOf({ ...call, message_id, at }),
      status: "running",
      // Nearly: the transcript does not tell when the answer ended.
      started_at: at,
    }),
  );
  return [answer, ...calls];
}

function endedCall(
  call: CallItem,
  message: Extract<TranscriptMessage, { role: "tool" }>,
  position: number,
): CallItem {
  const { output, is_error, images = [], at } = message;
  return {
    ...call,
    ...{ images, position, ended_at: at, started_at: undefined },
    result: keepEnds(output, RESULT_CHARS),
    status: is_error ? "failed" : "done",
  };
}

/** Which messages come before those that are shown; undefined = there are none, or no more can be kept. */
export function earlierPage(state: Conversation): { from: number; limit: number } | undefined {
  if (state.first === 0 || state.main.items.length + 3 * EARLIER_MESSAGES > ITEMS_MOST)
    return undefined;
  const from = Math.max(0, state.first - EARLIER_MESSAGES);
  return { from, limit: state.first - from };
}

/** Puts earlier messages before those that are shown. */
export function addEarlier(state: Conversation, page: Transcript): Conversation {
  const { position, messages } = page;
  // Meanwhile something else was cut off or added in front: what does not fit exactly is not taken.
  if (position + messages.length !== state.first) return state;
  const results = new Map(
    state.main.items.flatMap((item) => (item.kind === "call" ? [[item.key, item] as const] : [])),
  );
  const earlier = itemsOf(messages, position, { isOver: false }).map((item) => {
    const later = item.kind === "call" ? results.get(item.key) : undefined;
    return item.kind === "call" && later !== undefined ? { ...later, ...inputOf(item) } : item;
  });
  const moved = new Set(earlier.map(keyOf));
  const kept = state.main.items.filter((item) => !moved.has(keyOf(item)));
  const items = [...earlier, ...kept];
  return { ...state, first: position, main: { items, weight: weighAll(items) } };
}

function inputOf({ input, message_id, at }: CallItem) {
  return { input, message_id, at };
}
