import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activityOf } from "#contract/agent/agent-status.ts";
import { AgentEvent, type AgentEventBody, type AgentEventOf } from "#contract/agent/events.ts";
import type { Item } from "#contract/conversation/items.ts";
import { isOpen } from "#contract/conversation/thread.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { act, snapshotOf, writeLog } from "#test/harness/agent-log.ts";
import {
  applyEvent,
  emptyChat,
  listOpen,
  markWritten,
  openChat,
  toggleUnfolded,
} from "./chat-state.ts";
import type { ChatState } from "./chat-types.ts";

const SESSION = "ses_0000000000000001";
const AT = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-01T00:00:01.500Z";

function event(body: AgentEventBody, at = AT): AgentEvent {
  return AgentEvent.parse({ ...body, at, session_id: SESSION });
}

function chatOf(...bodies: readonly AgentEventBody[]): ChatState {
  return play(
    emptyChat,
    bodies.map((body) => event(body)),
  );
}

function play(state: ChatState, events: readonly AnyEvent[]): ChatState {
  return events.reduce(applyEvent, state);
}

function openItems(state: ChatState, kind: "answer" | "call") {
  return listOpen(state, kind).map(({ item }) => item);
}

type Body<T extends AgentEvent["type"]> = Omit<AgentEventOf<T>, "at" | "session_id">;

const ended = (text: string, message_id = "m") =>
  ({ type: "message.end", message_id, model: "x", text, stop_reason: "stop" }) as const;
const start = { type: "message.start", message_id: "m", model: "x", agent: "root" } as const;
const turn = { type: "turn.started", turn_id: "t" } as const;
const callEnd: Body<"tool.call.end"> = {
  ...{ type: "tool.call.end", message_id: "m", call_id: "c", tool: "shell" },
  input: { cmd: "ls" },
};

describe("an answer", () => {
  test("is written above block by block while it grows, and its end adds only what is left", () => {
    const growing = chatOf(
      start,
      { type: "message.delta", message_id: "m", text: "One.\n" },
      { type: "message.delta", message_id: "m", text: "\nTwo" },
    );
    expect(growing.items).toMatchObject([{ kind: "answer", text: "One.", isFirst: true }]);
    expect(openItems(growing, "answer")).toMatchObject([{ text: "One.\n\nTwo" }]);
    expect(growing.settled).toEqual({ key: "m", text: "One.\n\n" });
    const whole = applyEvent(growing, event(ended("One.\n\nTwo three.")));
    expect(openItems(whole, "answer")).toEqual([]);
    expect(whole.items).toMatchObject([
      { text: "One.", isFirst: true },
      { text: "Two three.", isFirst: false },
    ]);
  });

  test("that turns out to be another one is written whole", () => {
    const growing = chatOf(start, { type: "message.delta", message_id: "m", text: "One.\n\nTwo" });
    const { items } = applyEvent(growing, event(ended("Other.")));
    expect(items.map((item) => item.kind === "answer" && item.text)).toEqual(["One.", "Other."]);
  });

  test("that was cut off takes the calls with it that it had not finished", () => {
    const state = chatOf(turn, start, callEnd, { ...ended("On"), interrupted: true });
    expect(openItems(state, "call")).toEqual([]);
    expect(state.items).toMatchObject([{ kind: "answer", text: "On" }]);
  });

  test("that says nothing leaves nothing", () => {
    expect(chatOf(start, ended(" \n")).items).toEqual([]);
  });
});

describe("a call", () => {
  const result: Body<"tool.result"> = {
    ...{ type: "tool.result", call_id: "c", tool: "shell" },
    ...{ output: "a\nb", is_error: false },
  };

  test("is open with its newest output, then one item with how long it took", () => {
    const open = chatOf(turn, start, callEnd, ended(""), {
      ...{ type: "tool.output", call_id: "c", tool: "shell", text: "a\n" },
    });
    expect(openItems(open, "call")).toMatchObject([
      { tool: "shell", input: { cmd: "ls" }, output: "a\n" },
    ]);
    const done = applyEvent(open, event(result, LATER));
    expect(openItems(done, "call")).toEqual([]);
    expect(done.items).toMatchObject([
      {
        kind: "call",
        isUnfolded: false,
        call: { started_at: AT, ended_at: LATER, result: "a\nb" },
      },
    ]);
  });

  test("does not count the time that it waited for a person", () => {
    const asked = chatOf(turn, start, callEnd, ended(""), {
      ...{ type: "approval.requested", approval_id: "a", kind: "tool", call_id: "c" },
      ...{ tool: "shell", input: { cmd: "ls" }, message: "May it?" },
    });
    const resolved = event(
      { type: "approval.resolved", approval_id: "a", decision: "approve", by: "user" },
      "2026-01-01T00:01:00.000Z",
    );
    const done = play(asked, [resolved, event(result, "2026-01-01T00:01:02.000Z")]);
    expect(done.items.at(-1)).toMatchObject({
      call: { started_at: "2026-01-01T00:01:00.000Z", ended_at: "2026-01-01T00:01:02.000Z" },
    });
  });

  test("that began before we came is shown by its result alone", () => {
    const { items } = chatOf({ ...result, subagent_id: "s" });
    expect(items).toMatchObject([{ call: { tool: "shell", started_at: undefined } }]);
  });

  test("is unfolded from now on, or at once when nothing is under way", () => {
    const done = chatOf(turn, start, callEnd, ended(""), result);
    const again = toggleUnfolded(done);
    expect(again.items.at(-1)).toMatchObject({ kind: "call", isUnfolded: true });
    const open = toggleUnfolded(chatOf(turn, start, callEnd, ended("")));
    expect(open.items).toEqual([]);
    expect(applyEvent(open, event(result)).items).toMatchObject([{ isUnfolded: true }]);
    expect(toggleUnfolded(again)).toMatchObject({ isUnfolded: false, items: again.items });
  });
});

describe("a question", () => {
  const asked: Body<"approval.requested"> = {
    ...{ type: "approval.requested", approval_id: "a", kind: "tool", tool: "shell" },
    ...{ input: { cmd: "x".repeat(5000) }, message: "May it?" },
  };

  test("stands above with all that is asked for, and waits until somebody has answered", () => {
    const state = chatOf(turn, asked);
    expect(activityOf(state.talk.status)).toBe("waiting");
    expect(JSON.stringify(state.items)).toContain("x".repeat(5000));
    const resolved = event({
      ...{ type: "approval.resolved", approval_id: "a", decision: "reject" },
      ...{ reason: "not now", by: "user" },
    });
    const after = applyEvent(state, resolved);
    expect(activityOf(after.talk.status)).toBe("running");
    expect(after.items.at(-1)).toMatchObject({ text: "shell is refused: not now" });
  });

  test("ends with its turn, and a sub-agent's with the sub-agent", () => {
    const sub = { type: "subagent.started", subagent_id: "s", name: "n", task: "t" } as const;
    const state = chatOf(
      turn,
      asked,
      { ...sub, background: true },
      {
        ...asked,
        approval_id: "b",
        subagent_id: "s",
      },
    );
    const after = applyEvent(state, event({ type: "turn.ended", reason: "done" }));
    expect(after.talk.approvals.map(({ approval_id }) => approval_id)).toEqual(["b"]);
    const end = { type: "subagent.ended", subagent_id: "s", name: "n" } as const;
    const over = applyEvent(after, event({ ...end, outcome: "done", text: "" }));
    expect(over.talk.approvals).toEqual([]);
  });
});

test("what a sub-agent does is indented below the one that sent it out", () => {
  const sub = { type: "subagent.started", background: false, task: "Look." } as const;
  const state = chatOf(
    turn,
    start,
    { ...callEnd, call_id: "c1" },
    { ...sub, subagent_id: "s1", name: "scout", call_id: "c1" },
    { ...callEnd, call_id: "c2", subagent_id: "s1" },
    { ...sub, subagent_id: "s2", name: "deep", call_id: "c2" },
    { ...start, message_id: "m2", subagent_id: "s2" },
    { type: "message.delta", message_id: "m2", subagent_id: "s2", text: "A.\n\nB." },
    { ...ended("A.\n\nB.", "m2"), subagent_id: "s2", agent: "deep" },
  );
  expect(state.items.map(({ kind, depth }) => [kind, depth])).toEqual([
    ["note", 1],
    ["note", 2],
    ["answer", 2],
  ]);
});

test("a turn says why it ended, once", () => {
  const why = (reason: "done" | "interrupted" | "error") =>
    chatOf(
      turn,
      { type: "error", code: "model_failed", message: "No." },
      { type: "turn.ended", reason },
    ).items.length;
  expect([why("done"), why("error"), why("interrupted")]).toEqual([1, 1, 2]);
});

test("an end that was meant is the end, and any other is not", () => {
  const exit = (reason: string, exit_code: number) =>
    play(chatOf(turn), [
      // As much of the host's event as counts.
      {
        ...{ type: "session.exited", at: AT, session_id: SESSION },
        state: { kind: "exited", exit_code, signal: null, reason, tail: 0, final: true },
      } as never,
    ]);
  expect(exit("exited", 0)).toMatchObject({
    ...{ talk: { status: { is_cut: false } }, ended: undefined, items: [] },
  });
  expect(exit("exited", 137)).toMatchObject({
    talk: { status: { is_cut: true } },
    ended: undefined,
  });
  expect(exit("user_requested", 143)).toMatchObject({ ended: "user_requested" });
  expect(activityOf(exit("exited", 137).talk.status)).toBe("idle");
  const repaired = event({ type: "turn.ended", reason: "interrupted" });
  expect(applyEvent(exit("exited", 137), repaired).talk.status.is_cut).toBe(false);
});

test("what was drawn is forgotten, and what was not stays", () => {
  const state = chatOf(start, ended("A.\n\nB.\n\nC."));
  const left = markWritten(state, 2);
  expect([left.written, left.items.length]).toEqual([2, 1]);
  expect(markWritten(left, 2)).toBe(left);
  expect(markWritten(left, 99)).toMatchObject({ written: 3, items: [] });
});

test("somebody new is welcomed until something was said", () => {
  const info: Body<"agent.info"> = {
    ...{ type: "agent.info", name: "root", model: "m", description: "" },
    ...{ welcome_message: "Welcome.", context_limit: null, model_overrides: {} },
  };
  expect(chatOf(info, info).items).toMatchObject([{ text: "Welcome." }]);
});

/** What a snapshot contains: not notes and questions, nor how long a call took. */
function essence({ items, talk, settled }: ChatState) {
  const open = talk.main.items.filter(isOpen);
  const rows = items
    .filter(({ kind, depth }) => depth === 0 && kind !== "note" && kind !== "asked")
    .map((item) => {
      if (item.kind !== "call") return item;
      const { key, tool, input, result, status } = item.call;
      return { key, tool, input, result, status };
    });
  // A call that the model still writes is not in a snapshot.
  const isMade = (item: Item) => item.kind !== "call" || item.input !== undefined;
  return {
    rows,
    open: open.filter(isMade).map(({ kind, key }) => ({ kind, key })),
    settled: open.some(({ key }) => key === settled.key) ? settled : undefined,
  };
}

test("a snapshot and the events behind it are all events from the beginning", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30 }), fc.nat(), (acts, cut) => {
      const log = writeLog(acts);
      const at = cut % (log.length + 1);
      const resumed = play(openChat(snapshotOf(log.slice(0, at))), log.slice(at));
      expect(essence(resumed)).toEqual(essence(play(emptyChat, log)));
    }),
    { numRuns: 500 },
  );
});
