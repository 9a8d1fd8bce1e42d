import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { SessionState } from "#contract/session-state.ts";
import { openRandom } from "#test/harness/random.ts";
import {
  type AgentStatus,
  describeStatus,
  emptyAgentStatus,
  isRestartDue,
  isStatusType,
  reduceAgentStatus,
  type StatusEvent,
} from "./agent-status.ts";

const at = "2026-01-01T00:00:00.000Z";
const running: SessionState = { kind: "running" };
const slept: SessionState = {
  ...{ kind: "exited", exit_code: 0, signal: null, reason: "exited", tail: 0, final: true },
};
const killed: SessionState = { ...slept, exit_code: 137, signal: "SIGKILL" };
const closed: SessionState = { ...slept, reason: "user_requested" };
const lost: SessionState = { kind: "lost", reason: "host_lost" };

const info = { type: "agent.info", name: "root", model: "scripted/echo" };
const turn = { turn_id: "turn_1", agent: "root" };
const started = { type: "turn.started", ...turn };
const ended = { type: "turn.ended", ...turn, reason: "done" };
const said = (text: string) => ({ type: "message.end", ...turn, text });
const asked = { type: "approval.requested", kind: "tool", approval_id: "a", message: "May I?" };
const question = { type: "elicitation.requested", elicitation_id: "e", message: "Which?" };
const queued = { type: "queue.changed", added: { queue_id: "q" } };
const exit = (state: SessionState) => ({ type: "session.exited", state });
const resumed = { type: "session.resumed", life: 2 };

function reduce(events: readonly StatusEvent[], from: AgentStatus = emptyAgentStatus): AgentStatus {
  return events.reduce((status, event) => reduceAgentStatus(status, { at, ...event }), from);
}

/** With the state that the last exit among them says. */
function statusAfter(...events: readonly StatusEvent[]): string {
  const last = events.findLast(({ type }) => type === "session.exited" || type === resumed.type);
  const state = last?.type === "session.exited" ? (last.state as SessionState) : running;
  return describeStatus(state, reduce(events)).status;
}

test.each<[string, string, readonly StatusEvent[]]>([
  ["a worker that has not said who it is", "starting", []],
  ["one that has nothing to do", "idle", [info]],
  ["one in a turn", "working", [info, started]],
  ["one between a turn and the next message", "working", [info, started, queued, ended]],
  ["one whose turn was stopped", "idle", [info, started, queued, { ...ended, reason: "error" }]],
  ["one that asks", "needs_you", [info, started, asked]],
  ["one whose sub-agent asks", "needs_you", [info, started, { ...question, subagent_id: "s" }]],
  ["one that sleeps", "sleeping", [info, started, ended, exit(slept)]],
  ["one that sleeps while it asks", "needs_you", [info, started, asked, exit(slept)]],
  ["one that wakes while it asks", "needs_you", [info, started, asked, exit(slept), resumed]],
  ["one that wakes", "starting", [info, exit(slept), resumed]],
  ["one that crashed in a turn", "ended", [info, started, exit(killed)]],
  ["one that crashed while it asked", "ended", [info, started, asked, exit(killed)]],
  ["one that crashed while messages wait", "working", [info, started, queued, exit(killed)]],
  ["one whose host died while it asked", "ended", [info, started, asked, exit(lost)]],
  [
    "one that asks and whose next worker never began",
    "needs_you",
    [info, started, asked, exit(slept), resumed, exit(killed)],
  ],
  [
    "one that was closed while it slept and asked",
    "ended",
    [info, started, asked, exit(slept), exit(closed)],
  ],
  ["one that was closed while messages wait", "ended", [info, started, queued, exit(closed)]],
])("the status of %s is %s", (_name, status, events) => {
  expect(statusAfter(...events)).toBe(status);
});

test("a question has its kind, a line, and the time when it was first asked", () => {
  const later = "2026-01-01T00:01:00.000Z";
  const { needs } = reduce([
    { ...asked, tool: "execute", input: { n: 1, command: "make\u202e\nall" } },
    question,
    { ...asked, approval_id: "l", kind: "max_iterations", message: "Continue?" },
    { ...question, at: later },
  ]);
  expect(needs).toEqual([
    { id: "a", kind: "approval", summary: "execute make all", since: at },
    { id: "l", kind: "limit", summary: "Continue?", since: at },
    { id: "e", kind: "question", summary: "Which?", since: at },
  ]);
});

test("an answer, the end of the turn and the end of a sub-agent take questions away", () => {
  const helper = { ...question, subagent_id: "s" };
  const both = reduce([info, started, asked, helper]);
  const left = (event: StatusEvent) => reduce([event], both).needs.map(({ id }) => id);
  expect(left({ type: "approval.resolved", approval_id: "a" })).toEqual(["e"]);
  expect(left({ type: "elicitation.resolved", elicitation_id: "e" })).toEqual(["a"]);
  expect(left(ended)).toEqual(["e"]);
  expect(left({ ...ended, subagent_id: "s" })).toEqual(["a", "e"]);
  expect(left({ type: "subagent.ended", subagent_id: "s" })).toEqual(["a"]);
  expect(left(exit(lost))).toEqual([]);
});

test("an agent that has ended has no needs and no turn", () => {
  const asking = reduce([info, started, asked, exit(slept), resumed, exit(closed)]);
  expect(describeStatus(closed, asking)).toMatchObject({ needs: [], turn: null });
});

test.each<[string, readonly StatusEvent[], string]>([
  ["what it said", [said("First.\n\nLast.\n")], "Last."],
  [
    "what it is saying",
    ["Hel", "lo\n", "you"].map((text) => ({ type: "message.delta", message_id: "m", text })),
    "you",
  ],
  [
    "the call that it made",
    [
      said(""),
      { type: "tool.call.end", tool: "execute", input: { n: 1, command: "npm test" } },
      { type: "tool.result", tool: "execute", output: "ok", is_error: false },
    ],
    "tool execute npm test",
  ],
  [
    "a call that failed",
    [{ type: "tool.result", tool: "read", output: "no\nsuch file", is_error: true }],
    "tool read failed: such file",
  ],
  [
    "a command that failed, with its exit code",
    [
      {
        ...{ type: "tool.result", tool: "execute", is_error: false },
        output: "collecting\n2 tests failed\n[exit code 3 after 1.2 s]",
      },
    ],
    "tool execute failed with exit code 3: 2 tests failed",
  ],
  [
    "a command that failed and printed nothing",
    [{ type: "tool.result", tool: "execute", output: "[exit code 1 after 0.1 s]" }],
    "tool execute failed with exit code 1",
  ],
  [
    "a call, when its command ended with 0",
    [
      { type: "tool.call.end", tool: "execute", input: { command: "npm test" } },
      { type: "tool.result", tool: "execute", output: "fine\n[exit code 0 after 0.1 s]" },
    ],
    "tool execute npm test",
  ],
  ["what it asks", [asked, said("I wait.")], "asks: May I?"],
  [
    "what it did before, as soon as it has its answer",
    [said("Wait."), asked, { type: "approval.resolved", approval_id: "a" }],
    "Wait.",
  ],
  [
    "what its sub-agent asks, and not what that says",
    [
      { ...question, subagent_id: "s" },
      { ...said("mumble"), subagent_id: "s" },
    ],
    "asks: Which?",
  ],
  ["an error", [{ type: "error", message: "no key" }], "error: no key"],
  ["nothing that a terminal obeys", [said("\u001b[31mred\u001b[0m\u202e")], "[31mred [0m"],
])("the line of an agent is %s", (_name, events, line) => {
  expect(describeStatus(running, reduce([info, started, ...events])).last_line).toBe(line);
});

test("usage counts sub-agents, and its context is the agent's own", () => {
  const used = (cost: number | null, more: object) => ({
    type: "usage.updated",
    usage: { cost },
    ...more,
  });
  const total = { input_tokens: 7, output_tokens: 1, cost: 0.5 };
  const own = reduce([used(0.5, { total, context_tokens: 5, context_limit: 100 })]);
  const expected = { ...total, cost_is_partial: false, context_tokens: 5, context_limit: 100 };
  expect(own.usage).toEqual(expected);
  const more = { total: { ...total, input_tokens: 9 }, context_tokens: 1, context_limit: 2 };
  const both = reduce([used(null, { ...more, subagent_id: "s" }), used(0, { total })], own);
  expect(reduce([used(null, { ...more, subagent_id: "s" })], own).usage).toEqual({
    ...expected,
    ...{ input_tokens: 9, cost_is_partial: true },
  });
  expect(both.usage?.cost_is_partial).toBe(true);
  const unknown = { total: { ...total, cost: null }, context_tokens: 0, context_limit: null };
  expect(reduce([used(null, unknown)]).usage).toMatchObject({ cost: null, cost_is_partial: false });
});

test("a restart is due while messages wait and crashes have not used up the restarts", () => {
  let status = reduce([info, started, queued]);
  expect(isRestartDue(status)).toBe(false);
  for (let crash = 1; crash <= limits.agent_crash_restarts; crash += 1) {
    status = reduce([exit(killed), resumed], status);
    expect(isRestartDue(status)).toBe(true);
  }
  expect(isRestartDue(reduce([exit(killed)], status))).toBe(false);
  expect(isRestartDue(reduce([exit(killed), ended], status))).toBe(false);
  expect(isRestartDue(reduce([ended, ended, exit(killed)], status))).toBe(true);
  const read = { type: "message.user", queue_id: "q" };
  expect(isRestartDue(reduce([read], status))).toBe(false);
});

const garbage: readonly unknown[] = [null, 7, "x", [], {}, [null], { kind: 3 }, undefined];
const types = [
  ...["session.opened", "session.resumed", "session.exited", "agent.info", "agent.switched"],
  ...[
    "turn.started",
    "turn.ended",
    "message.user",
    "message.delta",
    "message.end",
    "queue.changed",
  ],
  ...["tool.call.end", "tool.result", "approval.requested", "approval.resolved", "usage.updated"],
  ...["elicitation.requested", "elicitation.resolved", "subagent.started", "subagent.ended"],
  ...["limit.reached", "error", "constructor", "toString", "later.event"],
];
const fields = [
  ...["at", "name", "model", "to", "turn_id", "reason", "queue_id", "text", "message_id", "state"],
  ...["tool", "input", "output", "is_error", "approval_id", "elicitation_id", "kind", "message"],
  ...["subagent_id", "added", "removed", "total", "usage", "context_tokens", "context_limit"],
];

test("events of other versions and fields of any type never throw, and any prefix and its rest are the whole", () => {
  const random = openRandom(7);
  const sample = [
    info,
    started,
    asked,
    question,
    queued,
    ended,
    exit(slept),
    exit(killed),
    resumed,
  ];
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  for (let round = 0; round < 200; round += 1) {
    const events = Array.from({ length: random.below(30) }, (): StatusEvent => {
      if (random.boolean()) return pick(sample);
      const strange = Array.from({ length: 6 }, () => [pick(fields), pick(garbage)]);
      return { ...pick([...sample, {}]), ...Object.fromEntries(strange), type: pick(types) };
    });
    const whole = reduce(events);
    const cut = random.below(events.length + 1);
    // The host keeps the first part on disk in between.
    const kept: AgentStatus = JSON.parse(JSON.stringify(reduce(events.slice(0, cut))));
    expect(reduce(events.slice(cut), kept)).toEqual(whole);
    for (const state of [running, slept, killed, closed, lost]) describeStatus(state, whole);
  }
});

test("a type that is not named changes nothing", () => {
  const before = reduce([info, started, asked]);
  for (const type of ["reasoning.delta", "tool.call.delta", "tool.output", "constructor", 7]) {
    expect(reduce([{ type }], before)).toBe(before);
    expect(isStatusType(String(type))).toBe(false);
  }
});
