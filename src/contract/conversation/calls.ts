import type { AgentEventOf } from "#contract/agent/events.ts";
import { findExit } from "#contract/tools/process-text.ts";
import type { CallItem, CallStatus, Conversation, Item, Thread } from "./items.ts";
import { keepEnds, keepTail, OUTPUT_CHARS, RESULT_CHARS } from "./text.ts";
import { changeThread, findItem, mapItems, putItem, threadOf } from "./thread.ts";

type CallEvent = AgentEventOf<"tool.call.start" | "tool.call.end" | "tool.output" | "tool.result">;

export function applyCall(state: Conversation, event: CallEvent): Conversation {
  const { subagent_id, call_id } = event;
  const known = findItem(threadOf(state, subagent_id), "call", call_id);
  switch (event.type) {
    case "tool.call.start":
      return known === undefined ? put(state, subagent_id, callOf(event)) : state;
    case "tool.call.end":
      return put(state, subagent_id, { ...(known ?? callOf(event)), input: event.input });
    case "tool.output": {
      const call = known ?? findEarlier(event);
      if (call === undefined || call.result !== undefined) return state;
      const output = keepTail(call.output + event.text, OUTPUT_CHARS);
      return put(state, subagent_id, { ...runCall(call, event.at), output });
    }
    case "tool.result":
      return endCall(state, known ?? findEarlier(event), event);
  }
}

/** A result without its call, or a second one, does not count: the model does not get it either. */
function endCall(
  state: Conversation,
  call: CallItem | undefined,
  event: AgentEventOf<"tool.result">,
): Conversation {
  if (call === undefined || call.result !== undefined || call.status === "writing") return state;
  const { subagent_id, at } = event;
  const isOwn = subagent_id === undefined;
  const ended = { ...call, ...endOf(call, event), position: isOwn ? state.total : undefined };
  const next = changeThread(state, subagent_id, (thread) =>
    runNext(putItem(thread, ended), call.message_id, at),
  );
  return isOwn ? { ...next, total: state.total + 1 } : next;
}

type Result = Pick<AgentEventOf<"tool.result">, "tool" | "output" | "is_error">;

/** A command with an exit code other than 0 has failed, although its tool has not. */
export function hasFailed({ tool, output, is_error }: Result): boolean {
  return is_error || (findExit(tool, output)?.exit_code ?? 0) !== 0;
}

export function endOf(
  { decision }: Pick<CallItem, "decision">,
  result: Result & Pick<AgentEventOf<"tool.result">, "at" | "images">,
) {
  const { tool, output, images = [], at: ended_at } = result;
  const exit_code = findExit(tool, output)?.exit_code;
  const failed: CallStatus = decision === "reject" ? "rejected" : "failed";
  const status: CallStatus = hasFailed(result) ? failed : "done";
  return { status, exit_code, images, ended_at, result: keepEnds(output, RESULT_CHARS) };
}

/** A sub-agent's calls before a snapshot are in no snapshot. */
function findEarlier(event: AgentEventOf<"tool.output" | "tool.result">): CallItem | undefined {
  if (event.subagent_id === undefined) return undefined;
  return { ...callOf(event), status: "running" };
}

export function callOf(begun: {
  readonly call_id: string;
  readonly tool: string;
  readonly at: string;
  readonly message_id?: string | undefined;
  readonly input?: unknown;
}): CallItem {
  return {
    kind: "call",
    key: begun.call_id,
    at: begun.at,
    message_id: begun.message_id,
    tool: begun.tool,
    input: begun.input,
    status: "writing",
    started_at: undefined,
    ended_at: undefined,
    output: "",
    result: undefined,
    exit_code: undefined,
    images: [],
    decision: undefined,
    reason: undefined,
    subagent_id: undefined,
    position: undefined,
  };
}

/** The answer has ended: the worker makes its calls, beginning with the first. */
export function queueCalls(thread: Thread, messageId: string, at: string): Thread {
  const queued = mapItems(thread, (item) =>
    isCall(item) && item.message_id === messageId && item.status === "writing"
      ? { ...item, status: "queued" }
      : item,
  );
  return runNext(queued, messageId, at);
}

/** The first call of the answer that has not ended runs, unless it waits. */
export function runNext(thread: Thread, messageId: string | undefined, at: string): Thread {
  if (messageId === undefined) return thread;
  const isNext = (item: Item) =>
    isCall(item) && item.message_id === messageId && isUnderWay(item.status);
  const next = thread.items.find(isNext);
  return next?.kind === "call" && next.status === "queued"
    ? putItem(thread, runCall(next, at))
    : thread;
}

/** The call shows that it runs. */
export function runCall(call: CallItem, at: string): CallItem {
  return call.status === "queued" ? { ...call, status: "running", started_at: at } : call;
}

/** The call was made and has not ended. */
export function isUnderWay(status: CallStatus): boolean {
  return status === "queued" || status === "waiting" || status === "running";
}

function isCall(item: Item): item is CallItem {
  return item.kind === "call";
}

/** Calls that were made and have no result. */
export function listOpenCalls({ items }: Thread): CallItem[] {
  return items
    .filter(isCall)
    .filter(({ status, result }) => status !== "writing" && result === undefined);
}

export function changeCall(
  state: Conversation,
  at: { readonly subagent_id: string | undefined; readonly call_id: string | undefined },
  change: (call: CallItem) => CallItem,
): Conversation {
  const call = findItem(threadOf(state, at.subagent_id), "call", at.call_id);
  return call === undefined ? state : put(state, at.subagent_id, change(call));
}

/** No result comes for the open calls. */
export function stopCalls(thread: Thread): Thread {
  return mapItems(thread, (item) =>
    isCall(item) && item.result === undefined && item.status !== "stopped"
      ? { ...item, status: "stopped" }
      : item,
  );
}

function put(state: Conversation, subagentId: string | undefined, call: CallItem): Conversation {
  return changeThread(state, subagentId, (thread) => putItem(thread, call));
}
