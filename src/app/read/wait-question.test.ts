import { expect, test } from "vitest";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  exitedState,
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { openPatterns } from "./patterns.ts";
import { createWaitOperations } from "./wait.ts";

async function ask(session: WrittenSession, timeout_ms = 0) {
  using patterns = openPatterns();
  const { hosts, clock } = session;
  const operations = createWaitOperations({ hosts, patterns, clock }, createTestCaller());
  return await operations["session.wait"]({
    session_id: WRITTEN_SESSION,
    for: "needs_answer",
    timeout_ms,
  });
}

const requested = { type: "approval.requested", approval_id: "one" };
const resolved = { type: "approval.resolved", approval_id: "one" };

test("an agent needs an answer while one of its questions is open", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note({ type: "turn.started" });
  expect(await ask(session)).toMatchObject({ matched: false });
  session.note(requested);
  session.note({ type: "elicitation.requested", elicitation_id: "one" });
  expect(await ask(session)).toMatchObject({ matched: true, for: "needs_answer" });
  session.note(resolved);
  expect(await ask(session)).toMatchObject({ matched: true });
  session.note({ type: "elicitation.resolved", elicitation_id: "one" });
  expect(await ask(session)).toMatchObject({ matched: false });
});

test("a question that comes during the wait ends it", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note(requested);
  session.note(resolved);
  const waiting = ask(session, 1000);
  await waitFor("the wait to begin", () => session.clock.timers === 1);
  session.note({ type: "message.user" });
  session.note({ ...requested, approval_id: "two" });
  expect(await waiting).toMatchObject({ matched: true });
});

const parked = exitedState(0, { final: true });
const cut = { ...parked, exit_code: 137, signal: "SIGKILL" } as const;
const closed = { ...parked, reason: "user_requested" } as const;

test("an agent that is parked still waits for its answer; one that is closed does not", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note(requested);
  session.note({ type: "session.exited", state: parked });
  session.enter(parked);
  expect(await ask(session)).toMatchObject({ matched: true });
  session.enter(closed);
  expect(await ask(session, 1000)).toMatchObject({ matched: false });
});

test("a parked agent that asks nothing is waited for, and asks in its next life", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.enter(parked);
  const waiting = ask(session, 1000);
  await waitFor("the wait to begin", () => session.clock.timers === 1);
  session.enter({ kind: "running" });
  session.note(requested);
  expect(await waiting).toMatchObject({ matched: true });
});

test("a worker that was cut off takes its questions along", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note(requested);
  session.note({ type: "session.exited", state: cut });
  session.note({ type: "session.resumed", life: 2, from: 0 });
  expect(await ask(session)).toMatchObject({ matched: false });
  session.note(requested);
  expect(await ask(session)).toMatchObject({ matched: true });
});

test("the end of a turn ends the agent's own questions, not those of a helper in the background", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note(requested);
  session.note({ type: "turn.ended", subagent_id: "sub" });
  expect(await ask(session)).toMatchObject({ matched: true });
  session.note({ type: "turn.ended" });
  expect(await ask(session)).toMatchObject({ matched: false });
  session.note({ ...requested, subagent_id: "sub" });
  session.note({ type: "turn.ended" });
  expect(await ask(session)).toMatchObject({ matched: true });
  session.note(resolved);
  expect(await ask(session)).toMatchObject({ matched: false });
});

test.each(["terminal", "command"] as const)("a %s asks no questions", async (kind) => {
  using session = openWrittenSession({ kind });
  await expect(ask(session)).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining(kind),
  });
});
