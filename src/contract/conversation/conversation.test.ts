import { describe, expect, test } from "vitest";
import { activityOf } from "#contract/agent/agent-status.ts";
import type { AgentEvent } from "#contract/agent/events.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { applyEvent, emptyConversation } from "./conversation.ts";
import type { CallItem, Conversation } from "./items.ts";

const AT = "2026-01-01T00:00:00.000Z";
const ITEMS_MOST = emptyConversation.bounds.items;
type Body = AgentEvent extends infer E
  ? E extends AgentEvent
    ? Omit<E, "at" | "session_id">
    : never
  : never;

/** Events as a session's log has them. */
function tell(bodies: readonly (Body & { readonly at?: string })[], from = emptyConversation) {
  const events = bodies.map((body) => ({ at: AT, session_id: "ses_0000000000000001", ...body }));
  // The id is one, and the rest was typed above.
  return events.reduce((state, event) => applyEvent(state, event as AnyEvent), from);
}

const ask = (text: string, message_id = text): Body => ({
  ...{ type: "message.user", message_id, origin: "message" },
  content: [{ type: "text", text }],
});
const start = (message_id: string): Body => ({ type: "message.start", message_id, model: "m" });
const delta = (message_id: string, text: string): Body => ({
  ...{ type: "message.delta", message_id, text },
});
const end = (message_id: string, text: string): Body => ({
  ...{ type: "message.end", message_id, text, model: "m", stop_reason: "stop" },
});
const call = (call_id: string, input = {}): Body => ({
  ...{ type: "tool.call.end", message_id: "m1", call_id, tool: "write_file", input },
});
const result = (call_id: string, is_error = false): Body => ({
  ...{ type: "tool.result", call_id, tool: "write_file", output: "ok", is_error },
});

const approval = (approval_id: string, call_id: string): Body => ({
  ...{ type: "approval.requested", approval_id, kind: "tool", call_id, message: "?" },
});
const decision = (approval_id: string, decided: "approve" | "reject"): Body => ({
  ...{ type: "approval.resolved", approval_id, decision: decided, by: "user" },
});

const kinds = ({ main }: Conversation) => main.items.map(({ kind }) => kind);
const findCall = ({ main }: Conversation): CallItem | undefined =>
  main.items.find((item) => item.kind === "call");

describe("a conversation", () => {
  test("an answer grows by its pieces, and its end replaces them", () => {
    const growing = tell([start("m1"), delta("m1", "Hel"), delta("m1", "lo")]);
    expect(growing.main.items).toMatchObject([{ kind: "answer", text: "Hello", isOpen: true }]);
    const ended = tell([end("m1", "Hello!")], growing);
    expect(ended.main.items).toMatchObject([{ text: "Hello!", isOpen: false, position: 0 }]);
  });

  test("what does not change keeps its identity while the end grows", () => {
    const before = tell([ask("hi"), start("m1"), delta("m1", "a")]);
    const after = tell([delta("m1", "b")], before);
    expect(after.main.items[0]).toBe(before.main.items[0]);
    expect(after.main.items[1]).not.toBe(before.main.items[1]);
  });

  test("a call that already waits for an approval keeps its identity when it waits for a second one", () => {
    const made = [start("m1"), call("c1"), end("m1", ""), approval("a1", "c1")];
    const before = tell(made);
    const after = tell([approval("a2", "c1")], before);
    expect(findCall(after)).toBe(findCall(before));
  });

  test("the same message twice is there once", () => {
    const state = tell([ask("hi"), ask("hi"), start("m1"), end("m1", "a"), end("m1", "a")]);
    expect(kinds(state)).toEqual(["user", "answer"]);
    expect(state.total).toBe(2);
  });

  test("an event of an unknown type changes nothing", () => {
    const state = tell([ask("hi")]);
    // As a newer server may write.
    const odd = { type: "weather.changed", at: AT, session_id: "ses_0000000000000001" } as never;
    expect(applyEvent(state, odd)).toBe(state);
  });

  test("a call is written, runs, waits for its approval and ends", () => {
    const begun: Body = {
      ...{ type: "tool.call.start", message_id: "m1", call_id: "c1", tool: "write_file" },
    };
    const status = (state: Conversation) => findCall(state)?.status;
    const written = tell([start("m1"), begun, call("c1", { path: "a" })]);
    expect(status(written)).toBe("writing");
    const made = tell([end("m1", "")], written);
    expect(status(made)).toBe("running");
    const asked = tell([approval("a1", "c1")], made);
    expect([status(asked), activityOf(asked.status), asked.approvals.length]).toEqual([
      ...["waiting", "waiting", 1],
    ]);
    const allowed = tell(
      [{ type: "approval.resolved", approval_id: "a1", decision: "approve", by: "user" }],
      asked,
    );
    expect([status(allowed), allowed.approvals.length]).toEqual(["running", 0]);
    const done = tell([result("c1")], allowed);
    expect(findCall(done)).toMatchObject({ status: "done", result: "ok", position: 1 });
  });

  test("calls behind an approval are queued, and run one after the other", () => {
    const calls = (state: Conversation) =>
      state.main.items.flatMap((item) => (item.kind === "call" ? [item.status] : []));
    const made = tell([start("m1"), call("c1"), call("c2"), call("c3"), end("m1", "")]);
    expect(calls(made)).toEqual(["running", "queued", "queued"]);
    const asked = tell([approval("a1", "c1")], made);
    expect(calls(asked)).toEqual(["waiting", "queued", "queued"]);
    const refused = tell([decision("a1", "reject"), result("c1", true)], asked);
    expect(calls(refused)).toEqual(["rejected", "running", "queued"]);
    // Calls that only read run side by side: a call that prints runs.
    const both = tell([{ type: "tool.output", call_id: "c3", tool: "t", text: "." }], refused);
    expect(calls(both)).toEqual(["rejected", "running", "running"]);
  });

  test("a queued call has no time of its own", () => {
    const later = "2026-01-01T00:00:09.000Z";
    const made = tell([start("m1"), call("c1"), call("c2"), end("m1", "")]);
    const next = tell([{ ...result("c1"), at: later }], made).main.items.at(-1);
    expect(made.main.items.at(-1)).toMatchObject({ key: "c2", started_at: undefined });
    expect(next).toMatchObject({ key: "c2", status: "running", started_at: later });
  });

  test.each([
    ["execute", "hi\n[exit code 3 after 0.1 s]", { status: "failed", exit_code: 3 }],
    [
      "execute",
      "[exit code 143 after 10.0 s, ended by SIGTERM]\n[note: x]",
      { status: "failed", exit_code: 143 },
    ],
    ["execute", "hi\n[exit code 0 after 0.1 s]", { status: "done", exit_code: 0 }],
    [
      "execute",
      "[exit code 1 after 0.1 s]\n[exit code 0 after 0.1 s]",
      { status: "done", exit_code: 0 },
    ],
    ["execute", "still [exit code 3 after 0.1 s]", { status: "done", exit_code: undefined }],
    ["read_file", "[exit code 3 after 0.1 s]", { status: "done", exit_code: undefined }],
  ] as const)("%s with the result %j is %j", (tool, output, shown) => {
    const made = tell([start("m1"), { ...call("c1"), tool } as Body, end("m1", "")]);
    const ended = tell([{ ...result("c1"), tool, output } as Body], made);
    expect(findCall(ended)).toMatchObject(shown);
  });

  test("a worker that dies leaves no call running, also of its sub-agents", () => {
    const subagent_id = "sub_1";
    const made = [start("m1"), call("c1"), end("m1", "")];
    const begun: Body = { type: "turn.started", turn_id: "t1" };
    const working = tell([begun, ...made, ...made.map((body) => ({ ...body, subagent_id }))]);
    const exit = (exit_code: number) => {
      const state = { kind: "exited", exit_code, signal: null, reason: "exited" };
      // As much of the host's event as counts.
      return applyEvent(working, { type: "session.exited", at: AT, state } as never);
    };
    const statuses = (state: Conversation) =>
      [state.main, state.subagents.get(subagent_id)].map(
        (thread) => thread?.items.find((item) => item.kind === "call")?.status,
      );
    expect(statuses(exit(137))).toEqual(["stopped", "stopped"]);
    expect(statuses(exit(0))).toEqual(["running", "running"]);
  });

  test("a second result of a call, and one without a call, are none", () => {
    const made = tell([start("m1"), call("c1"), end("m1", ""), result("c1")]);
    const again = tell([result("c1", true), result("c9")], made);
    expect(findCall(again)?.status).toBe("done");
    expect(again.total).toBe(made.total);
    const early = tell([start("m1"), call("c1"), result("c1")]);
    expect([findCall(early)?.status, early.total]).toEqual(["writing", 0]);
  });

  test("what a sub-agent uses counts for the session, but not for its context", () => {
    const used = (input_tokens: number, context_tokens: number): Body => {
      const usage = { input_tokens, output_tokens: 0, cost: null };
      const context = { context_tokens, context_limit: 1000, active_ms: 0 };
      return { type: "usage.updated", model: "m", usage, total: usage, ...context };
    };
    const state = tell([used(10, 10), { ...used(50, 40), subagent_id: "sub_1" }]);
    expect([state.usage.input_tokens, state.context_tokens]).toEqual([50, 10]);
  });

  test("a call that a person refused is rejected, with the reason", () => {
    const state = tell([
      ...[start("m1"), call("c1"), end("m1", "")],
      approval("a1", "c1"),
      {
        ...{ type: "approval.resolved", approval_id: "a1", decision: "reject", by: "user" },
        reason: "no",
      },
      result("c1", true),
    ]);
    expect(findCall(state)).toMatchObject({ status: "rejected", reason: "no" });
  });

  test("the time of a call does not count the wait for a person", () => {
    const state = tell([
      ...[start("m1"), call("c1"), end("m1", "")],
      approval("a1", "c1"),
      {
        ...{ type: "approval.resolved", approval_id: "a1", decision: "approve", by: "user" },
        at: "2026-01-01T00:01:00.000Z",
      },
      { ...result("c1"), at: "2026-01-01T00:01:02.000Z" },
    ]);
    const { started_at, ended_at } = findCall(state) ?? {};
    expect(Date.parse(ended_at ?? "") - Date.parse(started_at ?? "")).toBe(2000);
  });

  test("what a running call says is kept to its end", () => {
    const output = (text: string): Body => ({
      ...{ type: "tool.output", call_id: "c1", tool: "write_file", text },
    });
    const state = tell([
      ...[start("m1"), call("c1"), end("m1", "")],
      ...[output("x".repeat(40_000)), output("the end")],
    ]);
    const text = findCall(state)?.output ?? "";
    expect(text.endsWith("the end")).toBe(true);
    expect(text.length).toBe(32 * 1024);
  });

  test("calls of an answer that was cut off were never made", () => {
    const state = tell([
      ...[start("m1"), delta("m1", "Let"), call("c1")],
      {
        type: "message.end",
        message_id: "m1",
        text: "Let",
        model: "m",
        stop_reason: "other",
        interrupted: true,
      },
    ]);
    expect(kinds(state)).toEqual(["answer"]);
  });

  test("a sub-agent's call whose start is not known is shown by its result", () => {
    const state = tell([{ ...result("c1"), subagent_id: "sub_1" }]);
    expect(state.subagents.get("sub_1")?.items).toMatchObject([{ key: "c1", status: "done" }]);
  });

  test("a turn that ends leaves nothing running and nothing asked", () => {
    const state = tell([
      { type: "turn.started", turn_id: "t1" },
      ...[start("m1"), call("c1"), end("m1", "")],
      approval("a1", "c1"),
      { type: "turn.ended", reason: "interrupted" },
    ]);
    expect(findCall(state)?.status).toBe("stopped");
    expect([state.approvals.length, activityOf(state.status)]).toEqual([0, "idle"]);
    expect(state.main.items.at(-1)).toMatchObject({ kind: "note", tone: "warn" });
  });

  test("a sub-agent's doings stand below the call that sent it out, and nowhere else", () => {
    const subagent_id = "sub_1";
    const state = tell([
      ...[start("m1"), call("c1"), end("m1", "")],
      {
        ...{ type: "subagent.started", subagent_id, name: "coder", task: "Do it." },
        ...{ background: false, call_id: "c1" },
      },
      { ...start("m2"), subagent_id },
      { ...end("m2", "Done."), subagent_id },
      { type: "error", code: "x", message: "odd", subagent_id },
      { type: "subagent.ended", subagent_id, name: "coder", outcome: "done", text: "Done." },
    ]);
    expect(kinds(state)).toEqual(["answer", "call"]);
    expect(findCall(state)?.subagent_id).toBe(subagent_id);
    expect(state.subagents.get(subagent_id)).toMatchObject({
      ...{ name: "coder", task: "Do it.", outcome: "done" },
      items: [{ kind: "answer", text: "Done.", position: undefined }, { kind: "error" }],
    });
    expect(state.total).toBe(1);
  });

  test("a sub-agent's sub-agent stands below the sub-agent's call", () => {
    const outer = { subagent_id: "sub_1" };
    const inner = { subagent_id: "sub_2", name: "b", task: "t", background: false, call_id: "c2" };
    const state = tell([
      { type: "subagent.started", ...outer, name: "a", task: "t", background: false },
      ...[start("m1"), call("c2"), end("m1", "")].map((body) => ({ ...body, ...outer })),
      { type: "subagent.started", ...inner },
    ]);
    const items = state.subagents.get("sub_1")?.items;
    expect(items?.find((item) => item.kind === "call")).toMatchObject({ subagent_id: "sub_2" });
    expect(kinds(state)).toEqual(["subagent"]);
  });

  test("a sub-agent that was sent out before we came shows up with what it does", () => {
    const state = tell([{ ...start("m2"), subagent_id: "sub_9", agent: "coder" }]);
    expect(state.subagents.get("sub_9")).toMatchObject({
      name: "coder",
      items: [{ isOpen: true }],
    });
    expect(kinds(state)).toEqual(["subagent"]);
  });

  test("a sub-agent's question is gone with the sub-agent", () => {
    const subagent_id = "sub_1";
    const state = tell([
      { type: "subagent.started", subagent_id, name: "a", task: "t", background: false },
      { type: "approval.requested", approval_id: "a1", kind: "tool", message: "?", subagent_id },
      { type: "elicitation.requested", elicitation_id: "e1", message: "?", schema: {} },
      { type: "subagent.ended", subagent_id, name: "a", outcome: "stopped", text: "" },
    ]);
    expect([state.approvals.length, state.elicitations.length]).toEqual([0, 1]);
  });

  test("a question stands in the flow with its answer", () => {
    const state = tell([
      { type: "elicitation.requested", elicitation_id: "e1", message: "Which?", schema: {} },
      {
        ...{ type: "elicitation.resolved", elicitation_id: "e1", action: "accept", by: "user" },
        content: { answer: "red" },
      },
    ]);
    expect(state.main.items).toMatchObject([
      { asked: { message: "Which?" }, answer: { action: "accept", content: { answer: "red" } } },
    ]);
    expect(state.elicitations).toEqual([]);
  });

  test("a queued message leaves the queue when it is read or taken back", () => {
    const queued = (queue_id: string): Body => ({
      ...{ type: "queue.changed", steer: 0, followup: 1 },
      added: { queue_id, kind: "followup", content: [] },
    });
    const waiting = tell([queued("q1"), queued("q2"), queued("q2"), queued("q3")]);
    expect(waiting.queue.map(({ queue_id }) => queue_id)).toEqual(["q1", "q2", "q3"]);
    const read: Body = { ...ask("hi"), queue_id: "q1" } as Body;
    const taken: Body = { type: "queue.changed", steer: 0, followup: 1, removed: ["q3"] };
    expect(tell([read, taken], waiting).queue.map(({ queue_id }) => queue_id)).toEqual(["q2"]);
  });

  test("a long conversation keeps its newest items and knows what it has left out", () => {
    const many = Array.from({ length: ITEMS_MOST + 1 }, (_, at) => ask(`message ${at}`));
    const state = tell(many);
    expect(state.main.items.length).toBeLessThanOrEqual(ITEMS_MOST);
    expect(state.main.items.at(-1)?.key).toBe(`message ${ITEMS_MOST}`);
    expect(state.total).toBe(ITEMS_MOST + 1);
    expect(state.first).toBe(state.main.items[0]?.position);
    expect(state.first).toBeGreaterThan(0);
  });

  test("a few very long messages are bounded as well", () => {
    const many = Array.from({ length: 40 }, (_, at) => ask("x".repeat(1024 * 1024), `m${at}`));
    const state = tell(many);
    expect(state.main.weight).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(state.main.items.at(-1)?.key).toBe("m39");
  });

  test("an answer that was cut by a limit says so", () => {
    const state = tell([start("m1"), { ...end("m1", "a"), stop_reason: "length" } as Body]);
    expect(state.main.items[0]).toMatchObject({ cut: expect.stringContaining("cut off") });
  });
});
