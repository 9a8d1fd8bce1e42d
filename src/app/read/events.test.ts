import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { defined } from "#contract/values/defined.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import {
  exitedState,
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { createEventOperations } from "./events.ts";

function follow(session: WrittenSession, more: object = {}, signal?: AbortSignal) {
  const { "session.events": events } = createEventOperations(session, createTestCaller());
  const options = defined({ signal });
  return events({ session_id: WRITTEN_SESSION as never, ...more }, options);
}

async function all(session: WrittenSession, more: object = {}) {
  const items = await follow(session, { follow: false, ...more });
  return await Array.fromAsync(items);
}

test("each event comes once with the offset behind it, and from there the rest", async () => {
  using session = openWrittenSession();
  for (const title of ["a", "b", "日本"]) session.note({ type: "session.title", title });
  const items = await all(session);
  expect(items.map(({ data }) => data)).toMatchObject([
    { title: "a" },
    { title: "b" },
    { title: "日本" },
  ]);
  for (const [index, { id }] of items.entries())
    expect(await all(session, { since: id })).toEqual(items.slice(index + 1));
  expect(await all(session, { since: "tail" })).toEqual([]);
});

test("an offset that is no event's id is refused before the first item, and holds nothing", async () => {
  using session = openWrittenSession();
  session.note({ type: "session.title", title: "a" });
  for (const since of [1, 5, 9999])
    await expect(follow(session, { since })).rejects.toMatchObject({ code: "offset_out_of_range" });
  expect(session.hosts.all()[0].followed).toBe(0);
});

test("who follows hears what comes, until he leaves or the host goes", async () => {
  using session = openWrittenSession();
  const leaving = new AbortController();
  const items = (await follow(session, {}, leaving.signal))[Symbol.asyncIterator]();
  const first = items.next();
  session.note({ type: "session.title", title: "a" });
  expect((await first).value).toMatchObject({ data: { title: "a" } });
  const second = items.next();
  leaving.abort();
  expect(await second).toMatchObject({ done: true });
  expect(session.hosts.all()[0].followed).toBe(0);
  const others = (await follow(session, { since: "tail" }))[Symbol.asyncIterator]();
  const last = others.next();
  session.leave();
  expect(await last).toMatchObject({ done: true });
});

const agent = { kind: "agent", mode: "pipe" } as const;

test("a worker's answers are no events; what this version does not know is passed on as it is", async () => {
  using session = openWrittenSession(agent);
  const unknown = { type: "from.the.future", nested: { a: [1, null] } };
  const reply = { type: "reply", id: "1", result: {} };
  for (const line of [reply, unknown, reply, { type: "turn.started" }, reply]) session.note(line);
  const items = await all(session);
  expect(items.map(({ data }) => data)).toEqual([unknown, { type: "turn.started" }]);
  for (const [index, { id }] of items.entries())
    expect(await all(session, { since: id })).toEqual(items.slice(index + 1));
});

test("the events of an agent that may go on do not end with it; they end when it is closed for good", async () => {
  using session = openWrittenSession(agent);
  const items = (await follow(session))[Symbol.asyncIterator]();
  const parked = exitedState(0, { final: true });
  session.note({ type: "session.exited", state: parked });
  session.enter(parked);
  expect((await items.next()).value).toMatchObject({ data: { type: "session.exited" } });
  const resumed = items.next();
  session.enter({ kind: "running" });
  session.note({ type: "session.resumed", life: 2, from: 0 });
  expect((await resumed).value).toMatchObject({ data: { type: "session.resumed" } });
  const last = items.next();
  const closed = { ...parked, reason: "user_requested" } as const;
  session.note({ type: "session.exited", state: closed });
  session.enter(closed);
  expect((await last).value).toMatchObject({ data: { state: { reason: "user_requested" } } });
  expect(await items.next()).toMatchObject({ done: true });
  expect(session.hosts.all()[0].followed).toBe(0);
});

test("what is closed for good is followed until nobody holds it, and ends without another event", async () => {
  using session = openWrittenSession(agent);
  const items = (await follow(session))[Symbol.asyncIterator]();
  const closing = { ...exitedState(0, { final: false }), reason: "user_requested" } as const;
  const closed = { ...exitedState(0, { final: true }), reason: "user_requested" } as const;
  session.enter(closing);
  const late = items.next();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  session.note({ type: "session.title", title: "late" });
  expect((await late).value).toMatchObject({ data: { title: "late" } });
  const last = items.next();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  session.enter(closed);
  expect(await last).toMatchObject({ done: true });
});

test("whatever the lines are, an event's id is the offset behind it, and from each the rest follows", async () => {
  const line = fc.oneof(
    fc.record({ type: fc.constantFrom("message.delta", "warning"), text: fc.string() }),
    fc.record({ type: fc.constant("reply"), id: fc.string() }),
  );
  const half = fc.constant({ half: true as const });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(line, half), { maxLength: 12 }), async (written) => {
      using session = openWrittenSession(agent);
      let text = "";
      for (const entry of written) {
        if ("half" in entry) session.write('{"type":"hal\n\n');
        else session.note(entry);
        text += "half" in entry ? '{"type":"hal\n\n' : `${JSON.stringify(entry)}\n`;
      }
      const events = written.filter((entry) => !("half" in entry) && entry.type !== "reply");
      const items = await all(session);
      expect(items.map(({ data }) => data)).toEqual(events);
      for (const [index, { id, data }] of items.entries()) {
        const behind = Buffer.from(text).subarray(0, id).toString();
        expect(behind.endsWith(`${JSON.stringify(data)}\n`)).toBe(true);
        expect(await all(session, { since: id })).toEqual(items.slice(index + 1));
      }
    }),
    { numRuns: 40 },
  );
});
