import type { AgentEventOf } from "#contract/agent/events.ts";
import { add, type ChatState, type DoneCall, depthOf, type OpenCall } from "./chat-types.ts";
import { keepTail } from "./safe-text.ts";

/** As much as is kept of what a call says. */
const OUTPUT_CHARS = 16 * 1024;

type CallEvent = AgentEventOf<"tool.call.start" | "tool.call.end" | "tool.output" | "tool.result">;

export function applyCall(state: ChatState, event: CallEvent): ChatState {
  const call = state.calls.find(({ call_id }) => call_id === event.call_id) ?? openCall(event);
  switch (event.type) {
    case "tool.call.start":
      return put(state, call);
    case "tool.call.end":
      return put(state, { ...call, input: event.input, started_at: event.at });
    case "tool.output":
      return put(state, { ...call, output: keepTail(call.output + event.text, OUTPUT_CHARS) });
    case "tool.result":
      return endCall(state, call, event);
  }
}

/** It waited for a person, and that is none of its own time. */
export function restartCall(state: ChatState, callId: string | undefined, at: string): ChatState {
  const call = state.calls.find(({ call_id }) => call_id === callId);
  return call === undefined ? state : put(state, { ...call, started_at: at });
}

export function doneCall(
  call: Pick<OpenCall, "call_id" | "tool" | "input">,
  result: Pick<AgentEventOf<"tool.result">, "at" | "output" | "is_error">,
  startedAt: string | undefined,
): DoneCall {
  const took = Date.parse(result.at) - Date.parse(startedAt ?? "");
  return {
    ...{ call_id: call.call_id, tool: call.tool, input: call.input },
    started_at: startedAt ?? result.at,
    output: keepTail(result.output, OUTPUT_CHARS),
    is_error: result.is_error,
    duration_ms: Number.isFinite(took) ? Math.max(0, took) : undefined,
  };
}

function openCall(event: CallEvent): OpenCall {
  const { call_id, tool, subagent_id, at } = event;
  const message_id = "message_id" in event ? event.message_id : undefined;
  return { call_id, tool, input: undefined, message_id, subagent_id, started_at: at, output: "" };
}

function put(state: ChatState, call: OpenCall): ChatState {
  const at = state.calls.findIndex(({ call_id }) => call_id === call.call_id);
  const calls = at === -1 ? [...state.calls, call] : state.calls.with(at, call);
  return { ...state, calls };
}

function endCall(state: ChatState, open: OpenCall, event: AgentEventOf<"tool.result">): ChatState {
  const isKnown = state.calls.some(({ call_id }) => call_id === open.call_id);
  const call = doneCall(open, event, isKnown ? open.started_at : undefined);
  const calls = state.calls.filter(({ call_id }) => call_id !== call.call_id);
  const depth = depthOf(state, event.subagent_id);
  return add(
    { ...state, calls, lastCall: call },
    { kind: "call", call, isUnfolded: state.isUnfolded, depth },
  );
}
