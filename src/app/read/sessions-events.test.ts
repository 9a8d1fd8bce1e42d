import { expect, test } from "vitest";
import { SessionList } from "#app/live/session-list.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { callerEnvironment, createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { createSessionsEvents } from "./sessions-events.ts";

const HERE = "wsp_aaaaaaaaaaaaaaaa";
const ELSEWHERE = "wsp_bbbbbbbbbbbbbbbb";

/** Each test has a connection of its own, whose end takes its list along. */
const leaseHost = leaseForFile(() => openTestHost());

async function open() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const clock = new ManualClock();
  const board = new SessionList(clock, silentLogger);
  const client = stack.use(await connectHost(locateDataDir(host.dataDir).socket));
  const hosts = createLocalHosts(client, host.sessions);
  const isListed = Promise.withResolvers<void>();
  using _ready = board.changes.on(() => isListed.resolve());
  stack.use(board.follow(hosts.all()[0]));
  await hosts.all()[0].connect();
  await isListed.promise;
  const deps = { board, hosts, clock };
  const watch = async (workspaces: "*" | string[], signal?: AbortSignal) => {
    const caller = createTestCaller({ workspaces: workspaces as "*" });
    const { "sessions.watch": start } = createSessionsEvents(deps, caller);
    const items = await start({}, signal === undefined ? {} : { signal });
    return items[Symbol.asyncIterator]();
  };
  const create = (workspace_id: string) =>
    host.create({ argv: ["/bin/cat"], stdin: true, labels: { workspace_id } });
  const owned = stack.move();
  return { host, board, hosts, watch, create, [Symbol.asyncDispose]: () => owned.disposeAsync() };
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
  expect(opened.hosts.all()[0].followed).toBe(0);
});

/** A worker that says each line that it is told, and ends at the end of its input. */
const SAYING = ["/bin/cat"];

async function openAgents() {
  const opened = await open();
  const { client } = opened.host;
  const createAgent = (workspace_id = HERE) =>
    opened.host.create({ kind: "agent", argv: SAYING, labels: { workspace_id } });
  const say = async (session_id: string, ...events: object[]) => {
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    const data_b64 = Buffer.from(text).toString("base64");
    await client.call("session.input", { session_id, data_b64 });
  };
  const park = async (session_id: string) => {
    using handle = await opened.hosts.of(session_id).open(session_id);
    await client.call("session.input", { session_id, eof: true });
    await handle.until(({ session }) => session.state.kind === "exited" && session.state.final);
  };
  const revive = (session_id: string) =>
    client.call("session.revive", { session_id, argv: SAYING, env: callerEnvironment() });
  return { ...opened, createAgent, say, park, revive };
}

const ask = (approval_id: string) => ({ type: "approval.requested", approval_id });
const answer = (approval_id: string) => ({ type: "approval.resolved", approval_id });

type SessionEvent = Extract<SessionsEvent, { readonly session: unknown }>;

async function nextSession(
  items: AsyncIterator<{ readonly data: SessionsEvent }>,
  isWanted: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  for (;;) {
    const { value } = await items.next();
    const { data } = value as { readonly data: SessionsEvent };
    if ("session" in data && isWanted(data)) return data;
  }
}

/** The next event that says whether an agent needs an answer. */
async function nextAnswer(items: AsyncIterator<{ readonly data: SessionsEvent }>) {
  for (;;) {
    const { value } = await items.next();
    const { data } = value as { readonly data: SessionsEvent };
    if ("session" in data && data.needs_answer !== undefined)
      return [data.session.session_id, data.needs_answer];
  }
}

test("an agent that asks is told of, and that it was answered", async () => {
  await using opened = await openAgents();
  const items = await opened.watch([HERE]);
  const hidden = await opened.createAgent(ELSEWHERE);
  await opened.say(hidden.session_id, ask("a"));
  const { session_id } = await opened.createAgent();
  await opened.say(session_id, ask("a"));
  expect(await nextAnswer(items)).toEqual([session_id, true]);
  await opened.say(session_id, ask("b"), answer("a"), answer("b"));
  expect(await nextAnswer(items)).toEqual([session_id, false]);
  await opened.say(session_id, { type: "elicitation.requested", elicitation_id: "e" });
  expect(await nextAnswer(items)).toEqual([session_id, true]);
});

test("who comes later hears of those that ask, also of one that is parked, and follows it into its next life", async () => {
  await using opened = await openAgents();
  const { session_id } = await opened.createAgent();
  await opened.say(session_id, ask("a"));
  const first = await opened.watch("*");
  expect(await nextAnswer(first)).toEqual([session_id, true]);
  await opened.park(session_id);
  const second = await opened.watch("*");
  expect(await nextAnswer(second)).toEqual([session_id, true]);
  for (let life = 2; life < 5; life += 1) {
    await opened.revive(session_id);
    await opened.say(session_id, answer("a"));
    expect(await nextAnswer(second)).toEqual([session_id, false]);
    await opened.say(session_id, ask("a"));
    expect(await nextAnswer(second)).toEqual([session_id, true]);
    await opened.park(session_id);
  }
  await opened.host.client.call("session.close", { session_id });
  expect(await nextAnswer(second)).toEqual([session_id, false]);
});

test("an agent that was cut off asks nothing any more", async () => {
  await using opened = await openAgents();
  const items = await opened.watch("*");
  const { session_id } = await opened.createAgent();
  await opened.say(session_id, ask("a"));
  expect(await nextAnswer(items)).toEqual([session_id, true]);
  await opened.host.client.call("session.signal", { session_id, signal: "SIGKILL" });
  expect(await nextAnswer(items)).toEqual([session_id, false]);
});

test("a change names the fields that changed, and a start reaches running", async () => {
  await using opened = await open();
  const items = await opened.watch("*");
  expect(await nextOf(items)).toEqual(["ready"]);
  const { session_id } = await opened.create(HERE);
  const started = await nextSession(items, ({ session }) => session.status === "running");
  expect(started.session).toMatchObject({ session_id, state: { kind: "running" } });
  await opened.host.client.call("session.rename", { session_id, name: "builder" });
  const named = await nextSession(items, ({ session }) => session.name === "builder");
  expect(named).toMatchObject({
    type: "session.changed",
    changed: expect.arrayContaining(["name"]),
  });
});

test("a reader who missed several changes hears of every field that changed", async () => {
  await using opened = await open();
  const { session_id } = await opened.create(HERE);
  const items = await opened.watch("*");
  expect(await nextOf(items)).toEqual(["ready"]);
  const { client } = opened.host;
  await client.call("session.rename", { session_id, name: "builder" });
  await client.call("session.rename", { session_id, title: "renamed" });
  await waitFor("the board has both", () =>
    [...opened.board.sessions].some(({ title }) => title === "renamed"),
  );
  const { changed } = await nextSession(items, ({ session }) => session.title === "renamed");
  expect(changed).toEqual(expect.arrayContaining(["name", "title"]));
});

test("when another host answers, its agents that ask are published again", async () => {
  await using opened = await openAgents();
  const { session_id } = await opened.createAgent();
  await opened.say(session_id, ask("a"));
  const items = await opened.watch("*");
  expect(await nextAnswer(items)).toEqual([session_id, true]);
  using _again = opened.board.follow(opened.hosts.all()[0]);
  expect(await nextAnswer(items)).toEqual([session_id, true]);
});
