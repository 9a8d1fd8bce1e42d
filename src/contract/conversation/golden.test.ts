import { expect, test } from "vitest";
import { activityOf } from "#contract/agent/agent-status.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { applyEvent, emptyConversation } from "./conversation.ts";
import type { Conversation, Item } from "./items.ts";

/** A turn as a worker writes it, a JSON object a line, without the fields that all events have. */
const log = `
{"type":"agent.info","name":"root","model":"p/m","description":"","context_limit":null,"model_overrides":{}}
{"type":"turn.started","turn_id":"t1"}
{"type":"message.user","message_id":"u1","content":[{"type":"text","text":"Run the tests."}],"origin":"message"}
{"type":"message.start","message_id":"m1","model":"p/m"}
{"type":"message.delta","message_id":"m1","text":"I run "}
{"type":"message.delta","message_id":"m1","text":"them."}
{"type":"tool.call.start","message_id":"m1","call_id":"c1","tool":"execute"}
{"type":"tool.call.end","message_id":"m1","call_id":"c1","tool":"execute","input":{"command":"npm test"}}
{"type":"tool.call.end","message_id":"m1","call_id":"c2","tool":"write_file","input":{"path":"a"}}
{"type":"message.end","message_id":"m1","model":"p/m","text":"I run them.","stop_reason":"tool_calls"}
{"type":"approval.requested","approval_id":"a1","kind":"tool","call_id":"c1","tool":"execute","input":{},"message":"May it?"}
{"type":"approval.resolved","approval_id":"a1","decision":"approve","by":"user"}
{"type":"tool.output","call_id":"c1","tool":"execute","text":"1 failed\\n"}
{"type":"tool.result","call_id":"c1","tool":"execute","output":"1 failed\\n[exit code 1 after 2.0 s]","is_error":false}
{"type":"weather.changed","text":"an event of a newer worker"}
{"type":"tool.result","call_id":"c2","tool":"write_file","output":"wrote a","is_error":false}
{"type":"turn.ended","turn_id":"t1","reason":"budget"}
`;

const show = (item: Item): string => {
  if (item.kind === "call") return `${item.tool}: ${item.status}`;
  if (item.kind === "approval") return item.answer?.decision ?? "asked";
  return "text" in item ? `${item.kind}: ${item.text}` : item.kind;
};

/** The items that each event changed. */
function play(): string[] {
  let state: Conversation = emptyConversation;
  return log
    .trim()
    .split("\n")
    .map((line, second) => {
      const at = new Date(second * 1000).toISOString();
      // One type is unknown on purpose.
      const next = applyEvent(state, { at, ...JSON.parse(line) } as AnyEvent);
      const known = new Set(state.main.items);
      const changed = next.main.items.filter((item) => !known.has(item)).map(show);
      state = next;
      return `${activityOf(next.status)} | ${changed.join(", ")}`;
    });
}

test("a turn shows each call in its state, from the first event to the last", () => {
  expect(play()).toEqual([
    "idle | ",
    "running | ",
    "running | user",
    "running | answer: ",
    "running | answer: I run ",
    "running | answer: I run them.",
    "running | execute: writing",
    "running | execute: writing",
    "running | write_file: writing",
    "running | answer: I run them., execute: running, write_file: queued",
    "waiting | execute: waiting, asked",
    "running | execute: running, approve",
    "running | execute: running",
    "running | execute: failed, write_file: running",
    "running | ",
    "running | write_file: done",
    "idle | note: The session used up its budget.",
  ]);
});
