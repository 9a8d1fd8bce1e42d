import type { AgentEventOf } from "#contract/agent/events.ts";
import { dropOpen } from "./answers.ts";
import { changeCall, stopCalls } from "./calls.ts";
import type { Conversation } from "./items.ts";
import { changeThread, findItem, putItem, putSubagent, unknownSubagent } from "./thread.ts";

type SubagentEvent = AgentEventOf<"subagent.started" | "subagent.ended">;

export function applySubagent(state: Conversation, event: SubagentEvent): Conversation {
  const { subagent_id, name } = event;
  if (subagent_id === undefined) return state;
  const known = state.subagents.get(subagent_id);
  if (event.type === "subagent.started") {
    const subagent = { ...(known ?? unknownSubagent), name, task: event.task };
    return place(putSubagent(state, subagent_id, subagent), event);
  }
  const ended = changeThread(stopCalls(state, subagent_id), subagent_id, dropOpen);
  const last = ended.subagents.get(subagent_id) ?? unknownSubagent;
  const { outcome, text } = event;
  const next = putSubagent(ended, subagent_id, { ...last, name, outcome, answer: text });
  return known === undefined ? place(next, event) : next;
}

/** One whose start was before we came shows up with the first thing that it does. */
export function meetSubagent(
  state: Conversation,
  event: { readonly subagent_id: string; readonly agent?: string | undefined; readonly at: string },
): Conversation {
  const { subagent_id, agent = "" } = event;
  if (state.subagents.has(subagent_id)) return state;
  return place(putSubagent(state, subagent_id, { ...unknownSubagent, name: agent }), event);
}

interface Arrival {
  readonly subagent_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly at: string;
}

/** Below the call that sent it out, whoever made that; otherwise on its own. */
function place(state: Conversation, { subagent_id, call_id, at }: Arrival): Conversation {
  if (subagent_id === undefined) return state;
  const parents = [
    [undefined, state.main] as const,
    ...[...state.subagents].filter(([id]) => id !== subagent_id),
  ];
  const parent = parents.find(([, thread]) => findItem(thread, "call", call_id) !== undefined);
  if (call_id !== undefined && parent !== undefined)
    return changeCall(state, { subagent_id: parent[0], call_id }, (call) => ({
      ...call,
      subagent_id,
    }));
  return changeThread(state, undefined, (thread) =>
    putItem(thread, { kind: "subagent", key: subagent_id, at, subagent_id, position: undefined }),
  );
}
