import { expect, test } from "vitest";
import { activityOf } from "#contract/agent/agent-status.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { applyEvent, emptyConversation } from "./conversation.ts";
import type { Conversation } from "./items.ts";
import { noFacts } from "./session-facts.ts";

const AT = "2026-01-01T00:00:00.000Z";
/** What the events say of themselves; nothing else is looked at. */
const apply = (events: readonly object[], from = emptyConversation): Conversation =>
  events.reduce<Conversation>(
    (state, event) => applyEvent(state, { at: AT, ...event } as AnyEvent),
    from,
  );
const factsOf = (state: Conversation) =>
  Object.fromEntries(Object.entries(state).filter(([name]) => name in noFacts));

const begun = { type: "turn.started", turn_id: "t" };
const asked = { type: "approval.requested", approval_id: "a", kind: "tool", message: "May I?" };
const question = { type: "elicitation.requested", elicitation_id: "e", message: "?", schema: {} };
const helper = { subagent_id: "s" };

test("a turn runs, waits while something is asked, and drops its questions at its end", () => {
  const waiting = apply([begun, asked, question]);
  expect(
    [begun, asked].map((_, at) => activityOf(apply([begun, asked].slice(0, at + 1)).status)),
  ).toEqual(["running", "waiting"]);
  const ended = apply([{ type: "turn.ended", reason: "interrupted" }], waiting);
  expect([factsOf(ended), activityOf(ended.status)]).toEqual([noFacts, "idle"]);
  const answered = { type: "elicitation.resolved", elicitation_id: "e", action: "accept" };
  const allowed = { type: "approval.resolved", approval_id: "a", decision: "approve" };
  expect(activityOf(apply([answered, allowed], waiting).status)).toBe("running");
});

test("what is told again is there once", () => {
  const added = { type: "queue.changed", added: { queue_id: "q", mode: "steer", text: "x" } };
  const twice = apply([asked, asked, question, question, added, added]);
  const { approvals, elicitations, queue } = twice;
  expect([approvals.length, elicitations.length, queue.length]).toEqual([1, 1, 1]);
  expect(apply([{ type: "message.user", queue_id: "q", content: [] }], twice).queue).toEqual([]);
  expect(apply([{ type: "queue.changed", removed: ["q"] }], twice).queue).toEqual([]);
});

test("of a sub-agent counts what it asks and uses, and nothing else", () => {
  const total = { input_tokens: 7, output_tokens: 1, cost: 0 };
  const doings = [
    { type: "turn.started", turn_id: "other" },
    { type: "compaction.started" },
    { type: "agent.info", name: "helper", model: "m", context_limit: 1 },
    { type: "usage.updated", total, context_tokens: 5, context_limit: 6 },
    { type: "turn.ended", reason: "done" },
  ].map((event) => ({ ...event, ...helper }));
  const before = apply([begun, asked]);
  expect(factsOf(apply(doings, before))).toEqual({ ...factsOf(before), usage: total });
  const both = apply([{ ...question, ...helper }], before);
  expect(factsOf(apply([{ type: "subagent.ended", ...helper }], both))).toEqual(factsOf(before));
});

test("a worker that dies is a cut and asks nothing any more; one that is parked is none", () => {
  const state = apply([begun, asked, { type: "compaction.started" }]);
  const exit = (end: object) => ({ type: "session.exited", state: end });
  const lost = apply([exit({ kind: "lost", reason: "host_lost" })], state);
  expect([lost.status.is_cut, lost.isCompacting, activityOf(lost.status)]).toEqual([
    true,
    false,
    "idle",
  ]);
  const parked = apply([exit({ kind: "exited", reason: "exited", exit_code: 0 })], state);
  expect(activityOf(parked.status)).toBe("waiting");
  const back = { type: "agent.info", name: "root", model: "m", context_limit: null };
  expect(activityOf(apply([back], lost).status)).toBe("idle");
});

test("an event that says nothing about it leaves the very same state", () => {
  const state = apply([begun]);
  expect(apply([{ type: "hook.started", hook: "x", command: "x" }], state)).toBe(state);
});
