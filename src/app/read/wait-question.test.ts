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
  const { feeds, clock } = session;
  const operations = createWaitOperations({ feeds, patterns, clock }, createTestCaller());
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

test("an agent that has ended needs no answer any more", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  session.note(requested);
  session.enter(exitedState(0, { final: true }));
  expect(await ask(session, 1000)).toMatchObject({ matched: false });
});

test.each(["terminal", "command"] as const)("a %s asks no questions", async (kind) => {
  using session = openWrittenSession({ kind });
  await expect(ask(session)).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining(kind),
  });
});
