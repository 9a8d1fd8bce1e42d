import type { AgentEventOf } from "#contract/agent/events.ts";
import type { CallItem, Conversation } from "./items.ts";
import { keepEnds, keepTail, OUTPUT_CHARS, RESULT_CHARS } from "./text.ts";
import { changeThread, findItem, putItem, threadOf } from "./thread.ts";

type CallEvent = AgentEventOf<"tool.call.start" | "tool.call.end" | "tool.output" | "tool.result">;

export function applyCall(state: Conversation, event: CallEvent): Conversation {
  const { subagent_id, call_id } = event;
  const known = findItem(threadOf(state, subagent_id), "call", call_id);
  switch (event.type) {
    case "tool.call.start":
      return known === undefined ? put(state, subagent_id, callOf(event)) : state;
    case "tool.call.end": {
      const call = known ?? callOf(event);
      return put(state, subagent_id, { ...call, input: event.input });
    }
    case "tool.output":
      if (known === undefined) return state;
      return put(state, subagent_id, {
        ...known,
        output: keepTail(known.output + event.text, OUTPUT_CHARS),
      });
    case "tool.result":
      return endCall(state, known, event);
  }
}

/** A result without its call, or a second one, is none: no model is given it either. */
function endCall(
  state: Conversation,
  call: CallItem | undefined,
  event: AgentEventOf<"tool.result">,
): Conversation {
  if (call === undefined || call.result !== undefined || call.status === "writing") return state;
  const { subagent_id, output, is_error, images = [], at } = event;
  const failed = call.decision === "reject" ? "rejected" : "failed";
  const isOwn = subagent_id === undefined;
  const next = put(state, subagent_id, {
    ...call,
    ...{ result: keepEnds(output, RESULT_CHARS), images, ended_at: at },
    status: is_error ? failed : "done",
    position: isOwn ? state.total : undefined,
  });
  return isOwn ? { ...next, total: state.total + 1 } : next;
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
    images: [],
    decision: undefined,
    reason: undefined,
    subagent_id: undefined,
    position: undefined,
  };
}

export function changeCall(
  state: Conversation,
  at: { readonly subagent_id: string | undefined; readonly call_id: string | undefined },
  change: (call: CallItem) => CallItem,
): Conversation {
  const call = findItem(threadOf(state, at.subagent_id), "call", at.call_id);
  return call === undefined ? state : put(state, at.subagent_id, change(call));
}

/** Calls that no result will come for. */
export function stopCalls(state: Conversation, subagentId: string | undefined): Conversation {
  return changeThread(state, subagentId, (thread) => {
    const items = thread.items.map((item) =>
      item.kind === "call" && item.result === undefined && item.status !== "stopped"
        ? { ...item, status: "stopped" as const }
        : item,
    );
    return items.some((item, at) => item !== thread.items[at]) ? { ...thread, items } : thread;
  });
}

function put(state: Conversation, subagentId: string | undefined, call: CallItem): Conversation {
  return changeThread(state, subagentId, (thread) => putItem(thread, call));
}
