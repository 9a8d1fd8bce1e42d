import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentEvent, type AgentEventBody, type AgentEventOf } from "#contract/agent/events.ts";
import { activityOf } from "#contract/agent/standing.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { defined } from "#contract/values/defined.ts";
import { openChat } from "./chat-snapshot.ts";
import { applyEvent, emptyChat, markWritten, toggleUnfolded } from "./chat-state.ts";
import type { ChatState } from "./chat-types.ts";

// Whoever looks at a session and whoever runs it make it from the same log.
const { AgentFold } = await import("#agent/state/agent-fold.ts");
const { repairCut } = await import("#agent/turn/repair.ts");

const SESSION = "ses_0000000000000001";
const AT = "2026-01-01T00:00:00.000Z";

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
    expect(growing.answers).toMatchObject([{ text: "One.\n\nTwo", settled: 6 }]);
    const whole = applyEvent(growing, event(ended("One.\n\nTwo three.")));
    expect(whole.answers).toEqual([]);
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
    expect(state.calls).toEqual([]);
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
    expect(open.calls).toMatchObject([{ tool: "shell", input: { cmd: "ls" }, output: "a\n" }]);
    const done = applyEvent(open, event(result, "2026-01-01T00:00:01.500Z"));
    expect(done.calls).toEqual([]);
    expect(done.items).toMatchObject([
      { kind: "call", isUnfolded: false, call: { duration_ms: 1500, output: "a\nb" } },
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
    expect(done.lastCall?.duration_ms).toBe(2000);
  });

  test("that began before we came is shown by its result alone", () => {
    const { items } = chatOf(result);
    expect(items).toMatchObject([{ call: { tool: "shell", duration_ms: undefined } }]);
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
    expect(activityOf(state)).toBe("waiting");
    expect(JSON.stringify(state.items)).toContain("x".repeat(5000));
    const resolved = event({
      ...{ type: "approval.resolved", approval_id: "a", decision: "reject" },
      ...{ reason: "not now", by: "user" },
    });
    const after = applyEvent(state, resolved);
    expect(activityOf(after)).toBe("running");
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
    expect(after.approvals.map(({ approval_id }) => approval_id)).toEqual(["b"]);
    const end = { type: "subagent.ended", subagent_id: "s", name: "n" } as const;
    expect(applyEvent(after, event({ ...end, outcome: "done", text: "" })).approvals).toEqual([]);
  });
});

test("what a sub-agent does is indented below the one that sent it out", () => {
  const sub = { type: "subagent.started", background: false, task: "Look." } as const;
  const state = chatOf(
    turn,
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
  expect(exit("exited", 0)).toMatchObject({ isCut: false, ended: undefined, items: [] });
  expect(exit("exited", 137)).toMatchObject({ isCut: true, ended: undefined });
  expect(exit("user_requested", 143)).toMatchObject({ ended: "user_requested" });
  expect(activityOf(exit("exited", 137))).toBe("idle");
  const repaired = event({ type: "turn.ended", reason: "interrupted" });
  expect(applyEvent(exit("exited", 137), repaired).isCut).toBe(false);
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

type Act =
  | { readonly kind: "say" | "steer"; readonly text: string }
  | { readonly kind: "answer"; readonly pieces: readonly string[]; readonly calls: number }
  | { readonly kind: "results" | "ask" | "answered" | "elicit" | "end" | "error" | "compact" }
  | { readonly kind: "kill" | "subagent" | "queue" | "usage" | "cut" };

const piece = fc.constantFrom("One", " two", "\n", "\n\n", "- x", "```", "\n\nNext. ");
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("say" as const, "steer" as const), text: fc.string() }),
    fc.record({
      kind: fc.constant("answer" as const),
      pieces: fc.array(piece, { maxLength: 8 }),
      calls: fc.nat(2),
    }),
    fc.record({
      kind: fc.constantFrom(
        ...(["results", "ask", "answered", "elicit", "end", "error", "compact"] as const),
        ...(["kill", "subagent", "queue", "usage", "cut"] as const),
      ),
    }),
  ),
  { maxLength: 30 },
);

/** Writes a log as a worker does. */
class Writer {
  readonly log: AnyEvent[] = [];
  readonly fold = new AgentFold(SESSION);
  #next = 0;

  emit = (body: AgentEventBody): void => {
    const { turn_id } = this.fold;
    this.#add(event({ ...defined({ turn_id }), ...body }));
  };

  #add(line: AnyEvent): void {
    this.log.push(line);
    this.fold.apply(line);
  }

  #id(): string {
    this.#next += 1;
    return `i${this.#next}`;
  }

  do(act: Act): void {
    if (act.kind === "kill") {
      this.#kill();
      return;
    }
    if (this.fold.turn_id === undefined) this.emit({ type: "turn.started", turn_id: this.#id() });
    if (act.kind === "say" || act.kind === "steer") this.#say(act.text, act.kind);
    else if (act.kind === "answer") this.#answer(act);
    else if (act.kind === "ask" || act.kind === "answered" || act.kind === "elicit")
      this.#ask(act.kind);
    else this.#other(act.kind);
  }

  #say(text: string, kind: "say" | "steer"): void {
    const content = [{ type: "text" as const, text }];
    const message = { type: "message.user", message_id: this.#id(), content } as const;
    if (kind === "say") {
      this.emit({ ...message, origin: "message" });
      return;
    }
    const queue_id = this.#id();
    const added = { queue_id, kind, content };
    this.emit({ type: "queue.changed", steer: 1, followup: 0, added });
    this.emit({ ...message, origin: "steer", queue_id });
  }

  #answer({ pieces, calls }: Extract<Act, { kind: "answer" }>, isCut = false): void {
    const message_id = this.#id();
    this.emit({ type: "message.start", message_id, model: "m", agent: "root" });
    for (const text of pieces) this.emit({ type: "message.delta", message_id, text });
    if (!isCut) for (let n = 0; n < calls; n += 1) this.#call(message_id);
    const text = pieces.join("");
    const said = { type: "message.end", message_id, model: "m", text } as const;
    const how = isCut ? { stop_reason: "other", interrupted: true } : { stop_reason: "stop" };
    this.emit({ ...said, ...how } as AgentEventBody);
  }

  #call(message_id: string): void {
    const call = { message_id, call_id: this.#id(), tool: "t" };
    this.emit({ type: "tool.call.start", ...call });
    this.emit({ type: "tool.call.end", ...call, input: this.#next });
  }

  #ask(kind: "ask" | "answered" | "elicit"): void {
    const [approval_id] = this.fold.approvals.keys();
    if (kind === "ask")
      this.emit({
        type: "approval.requested",
        approval_id: this.#id(),
        kind: "tool",
        message: "?",
      });
    else if (kind === "elicit")
      this.emit({
        ...{ type: "elicitation.requested", elicitation_id: this.#id() },
        ...{ message: "?", schema: {} },
      });
    else if (approval_id !== undefined)
      this.emit({ type: "approval.resolved", approval_id, decision: "approve", by: "user" });
  }

  #other(kind: Exclude<Act["kind"], "say" | "steer" | "answer" | "kill">): void {
    const usage = { input_tokens: this.#next, output_tokens: 1, cost: null };
    if (kind === "end") {
      this.#results();
      this.emit({ type: "turn.ended", reason: "done" });
    } else if (kind === "results") this.#results();
    else if (kind === "error") this.emit({ type: "error", code: "internal", message: "no" });
    else if (kind === "compact")
      this.emit({ type: "compaction.ended", outcome: "applied", summary: "S" });
    else if (kind === "cut") this.#answer({ kind: "answer", pieces: ["a\n\nb"], calls: 0 }, true);
    else if (kind === "subagent") this.#subagent();
    else if (kind === "queue")
      this.emit({
        ...{ type: "queue.changed", steer: 0, followup: 1 },
        added: { queue_id: this.#id(), kind: "followup", content: [] },
      });
    else if (kind === "usage")
      this.emit({
        ...{ type: "usage.updated", model: "m", usage, total: usage, active_ms: 0 },
        ...{ context_tokens: this.#next, context_limit: 100 },
      });
  }

  #results(): void {
    for (const { call_id, tool } of this.fold.conversation.openCalls)
      this.emit({ type: "tool.result", call_id, tool, output: call_id, is_error: false });
  }

  #subagent(): void {
    const subagent_id = this.#id();
    const who = { subagent_id, name: "n" };
    this.emit({ type: "subagent.started", ...who, task: "t", background: false });
    this.emit({ type: "message.start", subagent_id, message_id: this.#id(), model: "m" });
    this.emit({ type: "subagent.ended", ...who, outcome: "done", text: "" });
  }

  #kill(): void {
    const state = { kind: "exited", exit_code: 137, signal: "KILL", reason: "exited" };
    // As much of a host's own event as the fold reads.
    this.#add({ type: "session.exited", at: AT, session_id: SESSION, state } as never);
    this.#add({ type: "session.resumed", at: AT, session_id: SESSION, life: 2 } as never);
    repairCut(this.fold, this.emit);
    const info = {
      name: "root",
      model: "m",
      description: "",
      context_limit: null,
    };
    this.emit({ type: "agent.info", ...info, model_overrides: {} });
  }
}

/** What a snapshot can tell: not what was only told in passing, nor how long a call took. */
function essence(state: ChatState) {
  const { answers, queue, approvals, elicitations, agent, model, usage, turn_id } = state;
  const items = state.items
    .filter(({ kind, depth }) => depth === 0 && kind !== "note" && kind !== "asked")
    .map((item) =>
      item.kind === "call"
        ? [item.call.call_id, item.call.tool, item.call.input, item.call.output, item.call.is_error]
        : item,
    );
  return {
    ...{ items, answers, queue, approvals, elicitations, agent, model, usage, turn_id },
    calls: state.calls.map(({ call_id, input }) => [call_id, input]),
    context: [state.context_tokens, state.context_limit],
    activity: activityOf(state),
  };
}

test("a snapshot and the events behind it are all events from the beginning", () => {
  fc.assert(
    fc.property(acts, fc.nat(), (all, cut) => {
      const writer = new Writer();
      writer.emit({
        ...{ type: "agent.info", name: "root", model: "m", description: "" },
        ...{ context_limit: null, model_overrides: {} },
      });
      for (const act of all) writer.do(act);
      const at = cut % (writer.log.length + 1);
      const before = new AgentFold(SESSION);
      for (const line of writer.log.slice(0, at)) before.apply(line);
      const snapshot = before.snapshot({ title: "T", work_dir: "/", events_tail: at });
      const resumed = play(openChat(snapshot, AT), writer.log.slice(at));
      expect(essence(resumed)).toEqual(essence(play(emptyChat, writer.log)));
    }),
    { numRuns: 500 },
  );
});
