import { splitSettled } from "#contract/agent/settled-blocks.ts";
import type { AgentSnapshot } from "#contract/agent/views.ts";
import {
  applyEvent as applyConversation,
  recentConversation,
} from "#contract/conversation/conversation.ts";
import type {
  AnswerItem,
  CallItem,
  Conversation,
  Item,
  Subagent,
  Thread,
} from "#contract/conversation/items.ts";
import { fromSnapshot } from "#contract/conversation/snapshot.ts";
import { emptyThread, findItem, isOpen } from "#contract/conversation/thread.ts";
import { isResumable } from "#contract/ended.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { blockRows, endAnswer, rowsOf } from "./chat-rows.ts";
import { add, type ChatState, note } from "./chat-types.ts";

export const emptyChat: ChatState = {
  talk: recentConversation,
  items: [],
  written: 0,
  settled: { key: "", text: "" },
  isUnfolded: false,
  ended: undefined,
};

/** Messages of the past that are written when the view opens. */
const MESSAGES_SHOWN = 100;

/** The view of a session as it is; apply the events from `events_tail` on. */
export function openChat(snapshot: AgentSnapshot): ChatState {
  const transcript = snapshot.transcript.slice(-MESSAGES_SHOWN);
  const omitted_messages =
    snapshot.omitted_messages + snapshot.transcript.length - transcript.length;
  const talk = fromSnapshot({ ...snapshot, transcript, omitted_messages }, recentConversation);
  const omitted =
    omitted_messages === 0 ? [] : [note(`${omitted_messages} earlier messages are not shown`)];
  const chat = write(add({ ...emptyChat, talk: inOrder(talk) }, ...omitted), emptyChat.talk);
  return { ...chat, talk };
}

/** In the order in which the items ended, as they would have been written. */
function inOrder(talk: Conversation): Conversation {
  const place = ({ position }: Item) => position ?? talk.total;
  const items = talk.main.items.toSorted((one, other) => place(one) - place(other));
  return { ...talk, main: { ...talk.main, items } };
}

/** What has ended is written above once and never drawn again; what is open is drawn anew each time. */
export function applyEvent(state: ChatState, event: AnyEvent): ChatState {
  const talk = applyConversation(state.talk, event);
  const next = talk === state.talk ? state : write({ ...state, talk }, state.talk);
  return event.type === "session.exited" ? applyExit(next, event) : next;
}

/** The first `total` items are drawn. */
export function markWritten(state: ChatState, total: number): ChatState {
  const drawn = Math.min(Math.max(0, total - state.written), state.items.length);
  if (drawn === 0) return state;
  return { ...state, items: state.items.slice(drawn), written: state.written + drawn };
}

/** Calls are written whole from now on; when no call is open, the last one is written again at once. */
export function toggleUnfolded(state: ChatState): ChatState {
  const isUnfolded = !state.isUnfolded;
  const next = { ...state, isUnfolded };
  const call = findLastCall(state.talk.main);
  if (!isUnfolded || call?.result === undefined) return next;
  return add(next, { kind: "call", call, isUnfolded, depth: 0 });
}

function findLastCall({ items }: Thread): CallItem | undefined {
  const call = items.findLast((item) => item.kind === "call");
  return call?.kind === "call" ? call : undefined;
}

/** The open items of all threads. */
export function listOpen<K extends "answer" | "call">({ talk }: ChatState, kind: K) {
  const threads = [{ ...talk.main, depth: 0 }, ...talk.subagents.values()];
  return threads.flatMap(({ items, depth }) =>
    items.flatMap((item) =>
      // The kind was compared.
      item.kind === kind && isOpen(item) ? [{ item: item as OpenItem<K>, depth }] : [],
    ),
  );
}

type OpenItem<K> = K extends "answer" ? AnswerItem : CallItem;

function write(state: ChatState, before: Conversation): ChatState {
  const { talk } = state;
  const welcomed = welcome(state, before);
  const main = { before: before.main, after: talk.main, depth: 0 };
  let next = talk.main === before.main ? welcomed : writeThread(welcomed, main);
  if (talk.subagents === before.subagents) return next;
  for (const [id, subagent] of talk.subagents) {
    const known = before.subagents.get(id);
    if (known !== subagent) next = writeSubagent(next, known, subagent);
  }
  return next;
}

function welcome(state: ChatState, before: Conversation): ChatState {
  const { agent, total, welcome: text } = state.talk;
  const isMet = agent === before.agent || total > 0 || text === undefined;
  return isMet ? state : add(state, note(text));
}

function writeSubagent(
  state: ChatState,
  known: Subagent | undefined,
  subagent: Subagent,
): ChatState {
  const { name, task, depth, outcome } = subagent;
  const hasStarted = task !== "" && known?.task !== task;
  const started = hasStarted
    ? add(state, note(`${name} works on: ${task}`, "plain", depth))
    : state;
  const said = writeThread(started, { before: known ?? emptyThread, after: subagent, depth });
  if (outcome === undefined || known?.outcome !== undefined) return said;
  return add(said, note(`${name}: ${outcome}`, outcome === "done" ? "plain" : "warning", depth));
}

interface ThreadChange {
  readonly before: Thread;
  readonly after: Thread;
  readonly depth: number;
}

function writeThread(state: ChatState, { before, after, depth }: ThreadChange): ChatState {
  const unchanged = new Set(before.items);
  return after.items.reduce((next, item) => {
    if (unchanged.has(item)) return next;
    if (item.kind === "answer" && depth === 0) return writeAnswer(next, item);
    const change = { before: findItem(before, item.kind, item.key), item, depth };
    return add(next, ...rowsOf({ ...change, isUnfolded: state.isUnfolded }));
  }, state);
}

/** An answer of the session's own agent is written block by block while it grows. */
function writeAnswer(state: ChatState, answer: AnswerItem): ChatState {
  const { key, text, agent } = answer;
  const shown = state.settled.key === key ? state.settled.text : "";
  if (!answer.isOpen) return add(state, ...endAnswer(answer, { shown, depth: 0 }));
  const { blocks } = splitSettled(text.slice(shown.length));
  const rows = blockRows(blocks, { agent, depth: 0, isBegun: shown.trim() !== "" });
  return add({ ...state, settled: { key, text: shown + blocks.join("") } }, ...rows);
}

/** A session that ended on purpose is over; after any other end the next message starts the agent again. */
function applyExit(
  state: ChatState,
  { state: end }: Extract<AnyEvent, { type: "session.exited" }>,
): ChatState {
  if (end.kind !== "exited" && end.kind !== "lost") return state;
  if (!isResumable({ kind: "agent", state: end })) return { ...state, ended: end.reason };
  if (!state.talk.status.is_cut) return state;
  const text = "the agent's process has ended; the next message starts it again";
  return add(state, note(text, "warning"));
}
