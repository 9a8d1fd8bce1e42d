import { expect, test } from "vitest";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { emptyConversation } from "./conversation.ts";
import type { Conversation } from "./items.ts";
import { addEarlier, earlierPage, itemsOf } from "./snapshot.ts";

const AT = "2026-01-01T00:00:00.000Z";
const user = (message_id: string): TranscriptMessage => ({
  ...{ role: "user", message_id, at: AT, content: [], origin: "message" },
});

function shown(from: number, messages: readonly TranscriptMessage[]): Conversation {
  const items = itemsOf(messages, from, { isOver: true });
  return { ...emptyConversation, first: from, main: { items, weight: 0 } };
}

const pageOf = (position: number, messages: TranscriptMessage[]) => ({
  ...{ title: "", messages, position, total: 9 },
});

test("the page before what is shown ends where that begins", () => {
  expect(earlierPage(shown(250, []))).toEqual({ from: 150, limit: 100 });
  expect(earlierPage(shown(30, []))).toEqual({ from: 0, limit: 30 });
  expect(earlierPage(shown(0, []))).toBeUndefined();
});

test("no more is loaded than can be kept", () => {
  const many = Array.from({ length: 1400 }, (_, at) => user(`m${at}`));
  expect(earlierPage(shown(500, many))).toBeUndefined();
});

test("a page that does not end where what is shown begins is not taken", () => {
  const state = shown(2, [user("c")]);
  expect(addEarlier(state, pageOf(0, [user("a")]))).toBe(state);
  expect(addEarlier(state, pageOf(1, [user("b"), user("c")]))).toBe(state);
  const joined = addEarlier(state, pageOf(0, [user("a"), user("b")]));
  expect(joined.main.items.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  expect(joined.first).toBe(0);
});

test("a result whose call lies before what is shown finds its call when that is loaded", () => {
  const result: TranscriptMessage = {
    ...{ role: "tool", call_id: "c1", tool: "read_file", at: AT, output: "text", is_error: false },
  };
  const answer: TranscriptMessage = {
    ...{ role: "assistant", message_id: "m1", at: AT, agent: "root", model: "m", text: "" },
    ...{ stop_reason: "tool_calls" },
    tool_calls: [{ call_id: "c1", tool: "read_file", input: { path: "a" } }],
  };
  const state = shown(1, [result]);
  expect(state.main.items).toMatchObject([{ kind: "call", input: undefined, result: "text" }]);
  const joined = addEarlier(state, pageOf(0, [answer]));
  expect(joined.main.items).toMatchObject([
    { kind: "answer" },
    { kind: "call", input: { path: "a" }, result: "text", status: "done", position: 1 },
  ]);
});
