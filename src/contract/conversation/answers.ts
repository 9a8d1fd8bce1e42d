import type { AgentEventOf } from "#contract/agent/events.ts";
import { queueCalls } from "./calls.ts";
import type { AnswerItem, CallItem, Conversation, Item, Thread } from "./items.ts";
import { shortAnswers } from "./notices.ts";
import { keepTail, REASONING_CHARS } from "./text.ts";
import { changeThread, findItem, keepItems, putItem, threadOf } from "./thread.ts";

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
  const { message_id, subagent_id, agent = "", model, at } = event;
  // An agent that starts an answer has given up the open one.
  return changeThread(state, subagent_id, (thread) =>
    putItem(dropOpen(thread), openAnswer({ message_id, agent, model, at })),
  );
}

type Begun = Pick<AnswerItem, "agent" | "model" | "at"> & { readonly message_id: string };

export function openAnswer({ message_id: key, agent, model, at }: Begun): AnswerItem {
  return {
    ...{ kind: "answer", key, at, agent, model, text: "", reasoning: "", hasReasoned: false },
    ...{ isOpen: true, isInterrupted: false, cut: undefined, position: undefined },
  };
}

/** Drops an answer that nobody continues, and its calls, which were never made. */
export function dropOpen(thread: Thread): Thread {
  const open = findOpenAnswer(thread);
  if (open === undefined) return thread;
  return keepItems(thread, (item) => item !== open && !isCallOf(item, open.key));
}

export function findOpenAnswer({ items }: Thread): AnswerItem | undefined {
  const open = items.findLast((item) => item.kind === "answer" && item.isOpen);
  return open?.kind === "answer" ? open : undefined;
}

export function growAnswer(
  state: Conversation,
  event: AgentEventOf<"message.delta" | "reasoning.delta">,
): Conversation {
  if (event.text === "") return state;
  return changeAnswer(state, event, (answer) =>
    event.type === "message.delta"
      ? { ...answer, text: answer.text + event.text }
      : { ...answer, reasoning: keepTail(answer.reasoning + event.text, REASONING_CHARS) },
  );
}

/** A history that was copied has no deltas, so its text is only in the end. */
export function endReasoning(
  state: Conversation,
  event: AgentEventOf<"reasoning.end">,
): Conversation {
  return changeAnswer(state, event, ({ reasoning, ...answer }) => {
    const isTold = reasoning.endsWith(keepTail(event.text, REASONING_CHARS));
    const whole = isTold ? reasoning : keepTail(reasoning + event.text, REASONING_CHARS);
    return { ...answer, reasoning: whole, hasReasoned: true };
  });
}

/** As in the transcript: an interrupted answer keeps its text only, and calls without an input were never made. */
export function endAnswer(state: Conversation, event: AgentEventOf<"message.end">): Conversation {
  const { message_id, subagent_id, text, stop_reason, interrupted = false, at } = event;
  const thread = threadOf(state, subagent_id);
  const open = findItem(thread, "answer", message_id) ?? findCut(state, event);
  if (open?.isOpen !== true) return state;
  const isMade = (item: Item) => !interrupted && item.kind === "call" && item.input !== undefined;
  const hasCalls = thread.items.some((item) => isCallOf(item, message_id) && isMade(item));
  const isSaid = text !== "" || (!interrupted && (open.hasReasoned || hasCalls));
  const isOwn = subagent_id === undefined;
  const ended: AnswerItem = {
    ...open,
    ...{ text, reasoning: interrupted ? "" : open.reasoning, cut: shortAnswers[stop_reason] },
    ...{ isOpen: false, isInterrupted: interrupted },
    position: isOwn && isSaid ? state.total : undefined,
  };
  const next = changeThread(state, subagent_id, (before) => {
    const kept = keepItems(before, (item) => !isCallOf(item, message_id) || isMade(item));
    const said = isSaid ? putItem(kept, ended) : keepItems(kept, (item) => item !== open);
    return hasCalls ? queueCalls(said, message_id, at) : said;
  });
  return isOwn && isSaid ? { ...next, total: state.total + 1 } : next;
}

/** After a crash the next worker ends the open answer, which a snapshot taken between the two does not contain. */
function findCut(
  { agent: current }: Conversation,
  { message_id, agent = current, model, at, interrupted }: AgentEventOf<"message.end">,
): AnswerItem | undefined {
  return interrupted === true ? openAnswer({ message_id, agent, model, at }) : undefined;
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
