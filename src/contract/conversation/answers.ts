import type { AgentEventOf } from "#contract/agent/events.ts";
import type { AnswerItem, CallItem, Conversation, Item, Thread } from "./items.ts";
import { keepTail, REASONING_CHARS } from "./text.ts";
import { changeThread, findItem, keepItems, mapItems, putItem, threadOf } from "./thread.ts";

const cutShort: Readonly<Record<string, string>> = {
  length: "The answer was cut off: it has reached the model's limit.",
  content_filter: "The answer was held back by the model's provider.",
};

export function sayCut(stopReason: string): string | undefined {
  return cutShort[stopReason];
}

/** What people say. The task of a sub-agent is shown with its start. */
export function applyUser(state: Conversation, event: AgentEventOf<"message.user">): Conversation {
  if (event.subagent_id !== undefined) return state;
  const { message_id, at, content, origin, framing = "plain" } = event;
  if (findItem(state.main, "user", message_id) !== undefined) return state;
  const next = changeThread(state, undefined, (thread) =>
    putItem(thread, {
      ...{ kind: "user", key: message_id, at, content, origin, framing },
      position: state.total,
    }),
  );
  return { ...next, total: state.total + 1 };
}

export function startAnswer(
  state: Conversation,
  event: AgentEventOf<"message.start">,
): Conversation {
  const { message_id, subagent_id, agent = "", at } = event;
  return changeThread(state, subagent_id, (thread) => {
    // Whoever begins anew has given up what he had begun.
    const rest = dropOpen(thread);
    return putItem(rest, openAnswer({ message_id, agent, at }));
  });
}

export function openAnswer(begun: {
  readonly message_id: string;
  readonly agent: string;
  readonly at: string;
}): AnswerItem {
  return {
    kind: "answer",
    key: begun.message_id,
    at: begun.at,
    agent: begun.agent,
    text: "",
    reasoning: "",
    isOpen: true,
    isInterrupted: false,
    cut: undefined,
    position: undefined,
  };
}

/** An answer that nobody goes on with, and its calls, which were never made. */
export function dropOpen(thread: Thread): Thread {
  const open = thread.items.findLast((item) => item.kind === "answer" && item.isOpen);
  if (open === undefined) return thread;
  return keepItems(thread, (item) => item !== open && !isCallOf(item, open.key));
}

export function growAnswer(
  state: Conversation,
  event: AgentEventOf<"message.delta" | "reasoning.delta">,
): Conversation {
  return changeAnswer(state, event, (answer) =>
    event.type === "message.delta"
      ? { ...answer, text: answer.text + event.text }
      : { ...answer, reasoning: keepTail(answer.reasoning + event.text, REASONING_CHARS) },
  );
}

/** The pieces have said it already, unless there were none: a history that was copied has only ends. */
export function endReasoning(
  state: Conversation,
  event: AgentEventOf<"reasoning.end">,
): Conversation {
  return changeAnswer(state, event, (answer) =>
    answer.reasoning.endsWith(keepTail(event.text, REASONING_CHARS))
      ? answer
      : { ...answer, reasoning: keepTail(answer.reasoning + event.text, REASONING_CHARS) },
  );
}

export function endAnswer(state: Conversation, event: AgentEventOf<"message.end">): Conversation {
  const { message_id, subagent_id, text, stop_reason, interrupted = false, at } = event;
  const thread = threadOf(state, subagent_id);
  const open = findItem(thread, "answer", message_id) ?? findCut(state, event);
  if (open?.isOpen !== true) return state;
  // As in the transcript: what was cut off keeps its words, and calls that it had not finished were never made.
  const reasoning = interrupted ? "" : open.reasoning;
  const hasCalls = thread.items.some(
    (item) => isCallOf(item, message_id) && item.input !== undefined,
  );
  const isSaid = text !== "" || (!interrupted && (reasoning !== "" || hasCalls));
  const isOwn = subagent_id === undefined;
  const ended: AnswerItem = {
    ...open,
    ...{ text, reasoning, isOpen: false, isInterrupted: interrupted, cut: sayCut(stop_reason) },
    position: isOwn && isSaid ? state.total : undefined,
  };
  const next = changeThread(state, subagent_id, (before) => {
    const kept = interrupted ? keepItems(before, (item) => !isCallOf(item, message_id)) : before;
    const said = isSaid ? putItem(kept, ended) : keepItems(kept, (item) => item !== open);
    return mapItems(said, (item) =>
      isCallOf(item, message_id) && item.status === "writing"
        ? { ...item, status: "running", started_at: at }
        : item,
    );
  });
  return isOwn && isSaid ? { ...next, total: state.total + 1 } : next;
}

/** Behind a cut the next life ends what the one before had begun, and a snapshot between the two does not tell it. */
function findCut(
  { agent: current }: Conversation,
  { message_id, agent = current, at, interrupted }: AgentEventOf<"message.end">,
): AnswerItem | undefined {
  return interrupted === true ? openAnswer({ message_id, agent, at }) : undefined;
}

function isCallOf(item: Item, messageId: string): item is CallItem {
  return item.kind === "call" && item.message_id === messageId;
}

function changeAnswer(
  state: Conversation,
  event: { readonly message_id: string; readonly subagent_id?: string | undefined },
  change: (answer: AnswerItem) => AnswerItem,
): Conversation {
  return changeThread(state, event.subagent_id, (thread) => {
    const answer = findItem(thread, "answer", event.message_id);
    return answer?.isOpen === true ? putItem(thread, change(answer)) : thread;
  });
}
