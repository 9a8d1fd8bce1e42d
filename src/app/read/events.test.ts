import { expect, test } from "vitest";
import { createTestCaller } from "#test/harness/caller.ts";
import {
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { createEventOperations } from "./events.ts";

function follow(session: WrittenSession, more: object = {}, signal?: AbortSignal) {
  const { "session.events": events } = createEventOperations(session, createTestCaller());
  const options = signal === undefined ? {} : { signal };
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
  expect(session.feeds.size).toBe(0);
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
  expect(session.feeds.size).toBe(0);
  const others = (await follow(session, { since: "tail" }))[Symbol.asyncIterator]();
  const last = others.next();
  session.leave();
  expect(await last).toMatchObject({ done: true });
});
