import { expect, test } from "vitest";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";
import { hear, NOTHING_HEARD } from "./attention-news.ts";

const OPENED = "2026-01-01T10:00:00.000Z";
const BEFORE = "2026-01-01T09:00:00.000Z";
const SOON = "2026-01-01T10:00:02.000Z";
const A_BIT_LATER = "2026-01-01T10:00:10.000Z";
const LATER = "2026-01-01T10:05:00.000Z";

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
    ...{ session_id: "ses_a", kind: "agent", state: running, parent_session_id: null },
    ...{ last_io_at: BEFORE, title: "a" },
    ...fields,
  } as Session;
}

type Change = Extract<SessionsEvent, { readonly session: unknown }>;

const ready: SessionsEvent = { type: "ready", at: OPENED };
function asks(at: string, fields: Partial<Session> = {}): Change {
  return { type: "session.needs_answer", at, session: session(fields), needs_answer: true };
}
const answered: Change = {
  ...{ type: "session.changed", at: LATER, session: session(), needs_answer: false },
};
function ends(fields: Partial<Session> = {}): Change {
  const ended = session({ kind: "terminal", state: exited, ...fields });
  return { type: "session.exited", at: LATER, session: ended };
}

/** What was told, one after the other. */
function tell(...events: readonly SessionsEvent[]): string[] {
  let attending = NOTHING_HEARD;
  return events.flatMap((event) => {
    const heard = hear(attending, event, Date.parse(event.at) - Date.parse(OPENED));
    attending = heard.attending;
    return heard.news === undefined ? [] : [heard.news.kind];
  });
}

test("an agent that asked before the page opened is no news", () => {
  expect(tell(ready, asks(SOON))).toEqual([]);
});

test("an agent that asks right after the page opened is news", () => {
  expect(tell(ready, asks(SOON, { last_io_at: SOON }))).toEqual(["asks"]);
});

test("a running agent that asks a bit later is news, a parked one must have asked before", () => {
  expect(tell(ready, asks(A_BIT_LATER))).toEqual(["asks"]);
  expect(tell(ready, asks(A_BIT_LATER, { state: exited }))).toEqual([]);
});

test("an agent that asks later is news, whatever is known of its output", () => {
  expect(tell(ready, asks(LATER))).toEqual(["asks"]);
});

test("who came too late to hear that the server is ready still hears what is new", () => {
  expect(tell(asks(SOON, { last_io_at: SOON }))).toEqual([]);
  expect(tell(asks(LATER))).toEqual(["asks"]);
});

test("a server whose clock goes otherwise is believed only as to what came after what", () => {
  const asked = asks("2020-01-01T00:00:00.000Z");
  expect(hear(NOTHING_HEARD, asked, 60_000).news?.kind).toBe("asks");
});

test("a question is told once, also when a cut tells it again", () => {
  expect(tell(ready, asks(LATER), asks(LATER), { ...ready, at: LATER }, asks(LATER))).toEqual([
    "asks",
  ]);
});

test("a question after an answer is told again", () => {
  expect(tell(ready, asks(LATER), answered, asks(LATER))).toEqual(["asks", "asks"]);
});

test("another connection does not make the page younger", () => {
  const asked = asks(A_BIT_LATER, { state: exited, last_io_at: SOON });
  expect(tell(ready, { ...ready, at: A_BIT_LATER }, asked)).toEqual(["asks"]);
});

test("an end is told once", () => {
  expect(tell(ready, ends(), ends())).toEqual(["ended"]);
});

test("what changes at a session that has ended is no second end", () => {
  const changed: Change = { ...ends(), type: "session.changed" };
  expect(tell(ready, ends(), changed, ends())).toEqual(["ended"]);
});

test("what an agent opened ends without a word", () => {
  const parent_session_id = session({}).session_id;
  expect(tell(ready, ends({ parent_session_id }))).toEqual([]);
});

test("a parked agent has not ended, a closed one has", () => {
  expect(tell(ready, ends({ kind: "agent" }))).toEqual([]);
  const closed = { ...exited, reason: "user_requested" } as const;
  expect(tell(ready, ends({ kind: "agent", state: closed }))).toEqual(["ended"]);
});

test("an agent that parks while it asks is not told again when the server says so", () => {
  expect(tell(ready, asks(LATER), ends({ kind: "agent" }), asks(LATER))).toEqual(["asks"]);
});

test("a lost session is an end", () => {
  expect(tell(ready, ends({ state: { kind: "lost", reason: "host_lost" } }))).toEqual(["ended"]);
});

test("one that runs again may end again", () => {
  const state: Change = {
    ...{ type: "session.state", at: LATER, session: session({ kind: "terminal" }) },
  };
  expect(tell(ready, ends(), state, ends())).toEqual(["ended", "ended"]);
});

test("a removed session is forgotten", () => {
  const { session_id } = session();
  const { attending } = [ready, asks(LATER), ends()].reduce(
    ({ attending: before }, event: SessionsEvent) => hear(before, event, 60_000),
    { attending: NOTHING_HEARD, news: undefined } as ReturnType<typeof hear>,
  );
  const after = hear(attending, { type: "session.removed", at: LATER, session_id }, 0).attending;
  expect([after.asking.size, after.ended.size]).toEqual([0, 0]);
});
