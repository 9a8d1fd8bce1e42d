import { expect, test } from "vitest";
import { createHostLink } from "#app/live/host-link.ts";
import { SessionBoard } from "#app/live/session-board.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestHost } from "#test/harness/host.ts";
import { createSessionsEvents } from "./sessions-events.ts";

const HERE = "wsp_aaaaaaaaaaaaaaaa";
const ELSEWHERE = "wsp_bbbbbbbbbbbbbbbb";

async function open() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const clock = new ManualClock();
  const board = new SessionBoard(clock, silentLogger);
  await board.follow(host.client);
  const link = createHostLink(host.client);
  const watch = async (workspaces: "*" | string[], signal?: AbortSignal) => {
    const caller = createTestCaller({ workspaces: workspaces as "*" });
    const { "sessions.watch": start } = createSessionsEvents({ link, board, clock }, caller);
    const items = await start({}, signal === undefined ? {} : { signal });
    return items[Symbol.asyncIterator]();
  };
  const create = (workspace_id: string) =>
    host.create({ argv: ["/bin/cat"], stdin: true, labels: { workspace_id } });
  const owned = stack.move();
  return { host, board, watch, create, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function nextOf(items: AsyncIterator<{ readonly data: SessionsEvent }>) {
  const { value } = await items.next();
  const { data } = value as { readonly data: SessionsEvent };
  return "session" in data ? [data.type, data.session.session_id] : [data.type];
}

test("it begins with ready, then tells of sessions that the caller may see and of no others", async () => {
  await using opened = await open();
  const items = await opened.watch([HERE]);
  expect(await nextOf(items)).toEqual(["ready"]);
  await opened.create(ELSEWHERE);
  const own = await opened.create(HERE);
  expect(await nextOf(items)).toEqual(["session.opened", own.session_id]);
});

test("a slow reader hears the newest of each session, and of a new one that it is new", async () => {
  await using opened = await open();
  const items = await opened.watch("*");
  expect(await nextOf(items)).toEqual(["ready"]);
  const heard: string[] = [];
  using _listening = opened.board.changes.on(({ event }) => heard.push(event.type));
  const { session_id } = await opened.create(HERE);
  await opened.host.client.call("session.rename", { session_id, title: "renamed" });
  await opened.host.client.call("session.close", { session_id });
  const { value } = await items.next();
  const { data } = value as { readonly data: SessionsEvent };
  expect(data.type).toBe("session.opened");
  expect(heard[0]).toBe("session.opened");
});

test("it ends with the signal and listens no longer", async () => {
  await using opened = await open();
  const leaving = new AbortController();
  const items = await opened.watch("*", leaving.signal);
  expect(opened.board.changes.size).toBe(1);
  await nextOf(items);
  const last = items.next();
  leaving.abort();
  expect(await last).toMatchObject({ done: true });
  expect(opened.board.changes.size).toBe(0);
});
