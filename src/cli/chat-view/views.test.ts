import { renderToString } from "ink";
import { expect, test } from "vitest";
import { emptyChat } from "#cli/chat/chat-state.ts";
import type { ChatView } from "#cli/chat/chat-store.ts";
import type { ChatItem, ChatState } from "#cli/chat/chat-types.ts";
import { emptyTyping, type Typing } from "#cli/chat/keys.ts";
import { listCommands } from "#cli/chat/slash.ts";
import { openAnswer } from "#contract/conversation/answers.ts";
import { callOf } from "#contract/conversation/calls.ts";
import type { AnswerItem, CallItem, Conversation, Item } from "#contract/conversation/items.ts";
import { unknownSubagent } from "#contract/conversation/thread.ts";
import { describeDuration } from "./describe-call.ts";
import { h } from "./draw.ts";
import { describeMenu, describeStatus } from "./input-view.ts";
import { ItemView } from "./item-view.ts";
import { LiveView } from "./live-view.ts";

const AT = "2026-01-01T00:00:00.000Z";
const open: CallItem = {
  ...callOf({ call_id: "c", tool: "execute", input: { command: "npm test" }, at: AT }),
  ...{ status: "running", started_at: AT, output: "ok 1\nok 2\r\nok 3\n" },
};
const done: CallItem = {
  ...open,
  ...{ result: "one\ntwo", status: "done", ended_at: "2026-01-01T00:01:01.000Z" },
};
const answer: AnswerItem = openAnswer({ message_id: "m", agent: "scout", model: "m", at: AT });
const saying = (items: readonly Item[]) => ({ main: { items, weight: 0 } });
/** Items of a sub-agent that another one started. */
const deeper = (items: readonly Item[]) => ({
  subagents: new Map([["s", { ...unknownSubagent, name: "scout", depth: 2, items }]]),
});

function drawItem(item: ChatItem, columns = 40): string {
  return renderToString(h(ItemView, { item, namesAgents: false }), { columns }).trimStart();
}

const working = { ...emptyChat.talk.status, turn: { turn_id: "t", started_at: AT } };

function viewOf(talk: Partial<Conversation>, chat: Partial<ChatState> = {}): ChatView {
  const shown = { ...emptyChat.talk, agent: "root", model: "p/m", status: working, ...talk };
  const now = Date.parse(AT) + 2500;
  return {
    chat: { ...emptyChat, ...chat, talk: shown },
    typing: emptyTyping,
    now,
    asking: 0,
    isViewer: false,
  };
}

function drawLive(talk: Partial<Conversation>, chat: Partial<ChatState> = {}): string[] {
  const view = viewOf(talk, chat);
  const lines = renderToString(h(LiveView, { view }), { columns: 40 }).split("\n");
  return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

test("the commands that fit are listed below the line, with the one that Tab has put in", () => {
  const commands = listCommands({ model2: "Another." });
  const typed = (text: string, menu: Typing["menu"] = undefined) =>
    describeMenu({ editor: { text, cursor: text.length }, menu }, commands);
  expect(typed("/he")).toEqual(["  /help: this list"]);
  expect(typed("/model2", { stem: "mo", at: 1 })).toEqual([
    "  /model [NAME]: which models there are, or another one from now on",
    "* /model2: Another.",
  ]);
  expect(typed("/")).toHaveLength(9);
  expect(typed("/").at(-1)).toBe("  and 1 more");
  for (const text of ["hello", "/model x", "/nothing"]) expect(typed(text)).toEqual([]);
});

test("a line that is wrapped behind a word at the edge does not begin with a blank", () => {
  const answer = { kind: "answer", agent: "root", isFirst: true, depth: 0 } as const;
  const drawn = drawItem(
    { ...answer, text: "**twelve is** here, and you are asked" } as ChatItem,
    19,
  );
  expect(drawn.split("\n")).toEqual(["twelve is here, and", "you are asked"]);
});

test("a call that has ended is one line, whole when it is unfolded", () => {
  const folded = drawItem({ kind: "call", call: done, isUnfolded: false, depth: 0 });
  expect(folded).toBe("✓ execute 1m1s command=npm test → two");
  const failed: CallItem = { ...done, status: "failed", result: "x".repeat(100) };
  const long = drawItem({ kind: "call", call: failed, isUnfolded: false, depth: 1 });
  expect(long).toMatch(/^✗ execute 1m1s command=npm test → x+…$/);
  const whole = drawItem({ kind: "call", call: done, isUnfolded: true, depth: 0 });
  expect(whole.split("\n").slice(1)).toEqual([
    ...["    {", '      "command": "npm test"', "    }", "    one", "    two"],
  ]);
});

test("a call that runs shows how long, and the last that it said", () => {
  expect(drawLive(saying([open]))).toEqual(["◌ execute 2.5s command=npm test → ok 3"]);
  const lines = drawLive(saying([open]), { isUnfolded: true });
  expect(lines.slice(1)).toEqual(["    ok 1", "    ok 2", "    ok 3"]);
  // A turn that was cut does not go on.
  expect(drawLive({ ...saying([open]), status: emptyChat.talk.status })).toEqual([]);
});

test("a call that waits says for what, and has no time", () => {
  const calls: CallItem[] = [
    { ...open, key: "c1", status: "waiting", output: "" },
    { ...open, key: "c2", status: "queued", output: "" },
  ];
  expect(drawLive(saying(calls))).toEqual([
    "◌ execute needs approval command=npm te…",
    "◌ execute queued command=npm test",
  ]);
});

test("what a sub-agent does is indented, also while it does it", () => {
  expect(drawLive(deeper([open]))[0]).toMatch(/^ {4}◌ execute/);
  expect(drawLive(deeper([{ ...answer, text: "First.\nThen." }]))).toEqual(["    scout: Then."]);
  const said = drawItem({ kind: "answer", agent: "scout", text: "Hi.", isFirst: true, depth: 1 });
  expect(said).toBe("scout:\n  Hi.");
});

test("what is asked for is shown to its last character", () => {
  const detail = `write_file ${"x".repeat(5000)}END`;
  const drawn = drawItem({ kind: "asked", text: "May it?", detail, depth: 0 });
  expect(drawn.replace(/\s/g, "")).toContain(detail.replace(/\s/g, ""));
});

test("nothing that is drawn can control the terminal", () => {
  const evil = "\u001b[2Ja\u009b31m\u0007\u202e\u001b]8;;http://x\u0007";
  const items: ChatItem[] = [
    { kind: "user", text: evil, origin: "message", depth: 0 },
    {
      kind: "answer",
      agent: evil,
      text: `[${evil}](http://${evil}) \`${evil}\``,
      isFirst: true,
      depth: 1,
    },
    { kind: "answer", agent: "a", text: "&#27;[31m [x&#27;[31m](y)", isFirst: true, depth: 0 },
    {
      kind: "call",
      call: { ...done, tool: evil, input: { [evil]: evil }, result: evil },
      isUnfolded: true,
      depth: 0,
    },
    { kind: "asked", text: evil, detail: evil, depth: 0 },
    { kind: "summary", text: evil, depth: 0 },
    { kind: "failure", text: evil, depth: 0 },
    { kind: "note", tone: "plain", text: evil, depth: 0 },
  ];
  const styles = /\u001b\[[\d;]*m/g;
  // Colours of our own are fine; those of others would have no name for it.
  for (const item of items)
    expect(drawItem(item).replace(styles, "")).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  const live = drawLive(
    saying([
      { ...open, tool: evil, output: evil },
      { ...answer, agent: evil, text: evil, reasoning: evil },
    ]),
  );
  expect(live.join("\n").replace(styles, "")).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
});

test("the last line says what goes on, first of all", () => {
  const usage = { input_tokens: 1234, output_tokens: 56, cost: 0.0123 };
  const view = viewOf({ usage, context_tokens: 500, context_limit: 2000 });
  expect(describeStatus(view)).toBe(
    "working, Esc interrupts | root | p/m | 25% of context | 1.2k in, 56 out | $0.0123",
  );
  const unknown = viewOf({ usage: { ...usage, cost: null }, status: emptyChat.talk.status });
  expect(describeStatus({ ...unknown, asking: 1 })).toBe("sending | root | p/m | 1.2k in, 56 out");
  expect(describeStatus({ ...unknown, isViewer: true })).toMatch(/^ready \(watching\)/);
});

test("times are as long as they need to be", () => {
  const shown = [0, 59_900, 60_000, 3_599_000, 7_260_000].map(describeDuration);
  expect(shown).toEqual(["0.0s", "59.9s", "1m0s", "59m59s", "2h1m"]);
});
