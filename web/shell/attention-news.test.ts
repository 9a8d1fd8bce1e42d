import { expect, test } from "vitest";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";
import { hear, hearList, NOTHING_HEARD } from "./attention-news.ts";

const AT = "2026-01-01T10:00:00.000Z";
const running = { kind: "running" } as const;
const exited = {
  kind: "exited",
  exit_code: 0,
  signal: null,
  reason: "exited",
  tail: 0,
  final: true,
} as const;

function session(fields: Partial<Session> = {}): Session {
  // Only what is looked at.
  return {
    ...{ session_id: "ses_a", kind: "agent", state: running, status: "idle" },
    ...{ parent_session_id: null, title: "a", ...fields },
  } as Session;
}

type Change = Extract<SessionsEvent, { readonly session: unknown }>;

const asking = session({ status: "needs_you" });
const sleepingAsking = session({ status: "needs_you", state: exited });
function asks(fields: Partial<Session> = {}): Change {
  const asked = session({ status: "needs_you", ...fields });
  return { type: "session.needs_answer", at: AT, session: asked, needs_answer: true };
}
const answered: Change = {
  ...{ type: "session.changed", at: AT, session: session(), needs_answer: false },
};
function ends(fields: Partial<Session> = {}): Change {
  const ended = session({ kind: "terminal", state: exited, status: "ended", ...fields });
  return { type: "session.exited", at: AT, session: ended };
}

/** What was reported, one after the other. An array is the list that a `ready` brings. */
function tell(...heard: readonly (SessionsEvent | readonly Session[])[]): string[] {
  let attending = NOTHING_HEARD;
  return heard.flatMap((next) => {
    const { attending: after, news } =
      "type" in next ? hear(attending, next) : hearList(attending, next);
    attending = after;
    return news.map(({ kind }) => kind);
  });
}

test("an agent that asked before the page opened is no news", () => {
  expect(tell([asking])).toEqual([]);
  expect(tell([sleepingAsking], asks({ state: exited }))).toEqual([]);
});

test("an agent that asks right after the page opened is news", () => {
  expect(tell([session()], asks())).toEqual(["asks"]);
});

test("a sleeping agent that asks right after the page opened is news as well", () => {
  expect(tell([session({ status: "sleeping", state: exited })], asks({ state: exited }))).toEqual([
    "asks",
  ]);
});

test("an agent that begins to ask during a cut is news when the list is read again", () => {
  expect(tell([session()], [asking], asks())).toEqual(["asks"]);
});

test("a question is told once, also when a cut tells it again", () => {
  expect(tell([session()], asks(), asks(), [asking], asks())).toEqual(["asks"]);
});

test("a question after an answer is told again", () => {
  expect(tell([session()], asks(), answered, asks())).toEqual(["asks", "asks"]);
  expect(tell([session()], asks(), [session()], asks())).toEqual(["asks", "asks"]);
});

test("a session of a host that reports no status is never news of a question", () => {
  expect(tell([session()], asks({ status: null }))).toEqual([]);
});

test("an end is told once", () => {
  expect(tell([], ends(), ends())).toEqual(["ended"]);
});

test("what changes at a session that has ended is no second end", () => {
  const changed: Change = { ...ends(), type: "session.changed" };
  expect(tell([], ends(), changed, ends())).toEqual(["ended"]);
});

test("what an agent opened ends without a word", () => {
  expect(tell([], ends({ parent_session_id: session().session_id }))).toEqual([]);
});

test("a parked agent has not ended, a closed one has", () => {
  expect(tell([], ends({ kind: "agent", status: "sleeping" }))).toEqual([]);
  const closed = { ...exited, reason: "user_requested" } as const;
  expect(tell([], ends({ kind: "agent", state: closed }))).toEqual(["ended"]);
});

test("an agent that crashed for good has ended, one that is started again has not", () => {
  const killed = { ...exited, exit_code: 137, signal: "SIGKILL" } as const;
  expect(tell([], ends({ kind: "agent", state: killed }))).toEqual(["ended"]);
  expect(tell([], ends({ kind: "agent", state: killed, status: "working" }))).toEqual([]);
});

test("an agent that parks while it asks is not told again when the server says so", () => {
  const parks = ends({ kind: "agent", status: "needs_you" });
  expect(tell([session()], asks(), parks, asks({ state: exited }))).toEqual(["asks"]);
});

test("a lost session is an end", () => {
  expect(tell([], ends({ state: { kind: "lost", reason: "host_lost" } }))).toEqual(["ended"]);
});

test("one that runs again may end again", () => {
  const runs = session({ kind: "terminal", status: "running" });
  const state: Change = { type: "session.state", at: AT, session: runs };
  expect(tell([], ends(), state, ends())).toEqual(["ended", "ended"]);
});

test("a removed session is forgotten", () => {
  const removed: SessionsEvent = { type: "session.removed", at: AT, session_id: asking.session_id };
  const { attending } = [asks(), ends(), removed].reduce(
    ({ attending: before }, event) => hear(before, event),
    hearList(NOTHING_HEARD, []),
  );
  expect([attending.asking.size, attending.ended.size]).toEqual([0, 0]);
});
