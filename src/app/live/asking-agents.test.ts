import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import type { Session } from "#contract/session.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { exitedState, openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { AskingAgents } from "./asking-agents.ts";
import { SessionBoard } from "./session-board.ts";

const agent = { kind: "agent", mode: "pipe", life: 1 } as const;
const ask = { type: "approval.requested", approval_id: "a" };

/** A board that the test speaks for, and a host that lists this one session. */
function openAgents(overrides: Partial<Session>) {
  const written = openWrittenSession(overrides);
  const { clock, hosts } = written;
  const board = new SessionBoard(clock, silentLogger);
  const describe = async () => {
    using handle = await hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
    return handle.session;
  };
  const deps = { board, hosts, clock, log: silentLogger };
  const heard: unknown[] = [];
  const following = new AskingAgents(deps).follow(({ event }) =>
    heard.push("needs_answer" in event ? event.needs_answer : event.type),
  );
  const at = new Date(clock.now()).toISOString();
  return { written, board, describe, heard, following, at };
}

test("an agent that the board says runs is followed, although its watch has not heard of that life yet", async () => {
  const opened = openAgents({ ...agent, state: exitedState(0, { final: true }) });
  using written = opened.written;
  using _following = opened.following;
  const parked = await opened.describe();
  await waitFor("what is parked to be read and left", () => written.hosts.all()[0].followed === 0);
  const session = { ...parked, life: 2, state: { kind: "running" as const } };
  const event = { type: "session.state" as const, at: opened.at, session };
  opened.board.changes.emit({ workspace_id: session.workspace_id, event });
  // Time enough to be read to its end and left, if it were.
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  written.enter({ kind: "running" });
  written.note(ask);
  await waitFor("the question to be told", () => opened.heard.includes(true));
});

test("when another host answers, those that ask are told of anew", async () => {
  const opened = openAgents({ ...agent, state: exitedState(0, { final: true }) });
  using written = opened.written;
  using _following = opened.following;
  written.note(ask);
  await waitFor("the question to be told", () => opened.heard.length === 1);
  const event = { type: "ready" as const, at: opened.at };
  opened.board.changes.emit({ workspace_id: undefined, event });
  await waitFor("the question to be told again", () => opened.heard.length === 2);
  expect(opened.heard).toEqual([true, true]);
});
