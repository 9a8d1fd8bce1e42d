import type { AgentEventOf } from "#contract/agent/events.ts";
import { dropOpen } from "./answers.ts";
import { changeCall, runCall, stopCalls } from "./calls.ts";
import type { Conversation } from "./items.ts";
import { changeThread, findItem, putItem, putSubagent, unknownSubagent } from "./thread.ts";

type SubagentEvent = AgentEventOf<"subagent.started" | "subagent.ended">;

export function applySubagent(state: Conversation, event: SubagentEvent): Conversation {
  const { subagent_id, name, at } = event;
  if (subagent_id === undefined) return state;
  const known = state.subagents.get(subagent_id);
  if (event.type === "subagent.started") {
    const { task, call_id } = event;
    const subagent = { ...(known ?? unknownSubagent), name, task };
    return place(putSubagent(state, subagent_id, subagent), { subagent_id, call_id, at });
  }
  const ended = changeThread(state, subagent_id, (thread) => dropOpen(stopCalls(thread)));
  const last = ended.subagents.get(subagent_id) ?? unknownSubagent;
  const { outcome, text } = event;
  const next = putSubagent(ended, subagent_id, { ...last, name, outcome, answer: text });
  return known === undefined ? place(next, { subagent_id, at }) : next;
}

/** A sub-agent whose start is not known is added with its first event. */
export function meetSubagent(
  state: Conversation,
  event: { readonly subagent_id?: string | undefined; readonly agent?: string | undefined },
  at: string,
): Conversation {
  const { subagent_id, agent = "" } = event;
  if (subagent_id === undefined || state.subagents.has(subagent_id)) return state;
  const met = putSubagent(state, subagent_id, { ...unknownSubagent, name: agent });
  return place(met, { subagent_id, at });
}

interface Arrival {
  readonly subagent_id: string;
  readonly call_id?: string | undefined;
  readonly at: string;
}

/** Below the call that started it, in any thread; otherwise as an item of its own. */
function place(state: Conversation, { subagent_id, call_id, at }: Arrival): Conversation {
  const parent = call_id === undefined ? undefined : findParent(state, call_id);
  if (parent === undefined)
    return changeThread(state, undefined, (thread) =>
      putItem(thread, { kind: "subagent", key: subagent_id, at, subagent_id, position: undefined }),
    );
  const subagent = state.subagents.get(subagent_id) ?? unknownSubagent;
  const deeper = putSubagent(state, subagent_id, { ...subagent, depth: parent.depth + 1 });
  return changeCall(deeper, { subagent_id: parent.id, call_id }, (call) => ({
    ...runCall(call, at),
    subagent_id,
  }));
}

function findParent(state: Conversation, callId: string) {
  if (findItem(state.main, "call", callId) !== undefined) return { id: undefined, depth: 0 };
  for (const [id, thread] of state.subagents)
    if (findItem(thread, "call", callId) !== undefined) return { id, depth: thread.depth };
  return undefined;
}
