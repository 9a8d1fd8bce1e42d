import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import type { EndReason } from "#contract/session-state.ts";
import type { CreateRequest, ReviveRequest } from "#host/sessions/create-request.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { HostSession } from "./session/host-session.ts";
import { FullDisk } from "./testing/full-disk.ts";
import {
  openTestSessions,
  readEvents,
  readOutput,
  type TestSessions,
} from "./testing/open-test-sessions.ts";

const MINUTE = 60_000;

async function openAgent(host: TestSessions, request: Partial<CreateRequest> = {}) {
  return await host.open({ kind: "agent", argv: ["agent"], ...request });
}

/** An agent that has ended by itself, and nothing of it is left. */
async function openParked(host: TestSessions, request: Partial<CreateRequest> = {}) {
  const opened = await openAgent(host, request);
  opened.child.exit();
  opened.child.finish();
  return opened;
}

function again(session: HostSession, request: Partial<ReviveRequest> = {}): ReviveRequest {
  return { session_id: session.id, argv: ["agent", "--again"], env: { PATH: "/bin" }, ...request };
}

function typesOf(session: HostSession): unknown[] {
  return readEvents(session).map((event) => event.type);
}

test("another life is another child in the same session, behind the same events", async () => {
  await using host = openTestSessions();
  const labels = { owner: "me", user_id: "ana" };
  const { session, child } = await openAgent(host, { labels, title: "t" });
  expect(session.view().life).toBe(1);
  child.print('{"type":"turn.started"}\n');
  child.print("one ", "stderr");
  child.exit({ exit_code: 1, signal: null });
  child.finish();
  const before = session.eventsTail;
  const revived = await host.sessions.revive(
    again(session, {
      work_dir: "/tmp",
      umask: 0o27,
      open_files: 99,
      env: { PATH: "/bin", A: "1" },
    }),
  );
  expect(revived).toBe(session);
  expect(session.view()).toMatchObject({
    session_id: session.id,
    state: { kind: "running" },
    life: 2,
    exited_at: null,
    title: "t",
    user_id: "ana",
    work_dir: "/tmp",
    argv: ["agent", "--again"],
    pid: host.spawner.last.pid,
  });
  expect(host.spawner.specs[1]).toMatchObject({
    session_id: session.id,
    argv: ["agent", "--again"],
    work_dir: "/tmp",
    umask: 0o27,
    open_files: 99,
    stdin: true,
    env: { A: "1", REINS_SESSION_ID: session.id, REINS_USER_ID: "ana" },
  });
  host.spawner.last.print('{"type":"turn.ended"}\n');
  host.spawner.last.print("two", "stderr");
  expect(typesOf(session)).toEqual([
    "session.opened",
    "turn.started",
    "session.exited",
    "session.resumed",
    "turn.ended",
  ]);
  expect(readEvents(session)[3]).toMatchObject({ life: 2, from: before });
  expect(readOutput(session)).toBe("one two");
  host.spawner.last.exit();
  host.spawner.last.finish();
  expect((await host.sessions.revive(again(session))).view()).toMatchObject({
    life: 3,
    work_dir: "/tmp",
  });
});

test("a terminal and a command have one life, which they do not tell", async () => {
  await using host = openTestSessions();
  for (const kind of ["terminal", "command"] as const) {
    const { session, child } = await host.open({ kind });
    child.exit();
    child.finish();
    expect(session.view()).not.toHaveProperty("life");
    await expect(host.sessions.revive(again(session))).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(kind),
    });
  }
});

test("what runs is not started again, and of two who ask one wins", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  const busy = { code: "busy" };
  await expect(host.sessions.revive(again(session))).rejects.toMatchObject(busy);
  child.exit();
  child.finish();
  const release = host.spawner.holdNext();
  const first = host.sessions.revive(again(session));
  await expect(host.sessions.revive(again(session))).rejects.toMatchObject(busy);
  release();
  await first;
  await expect(host.sessions.revive(again(session))).rejects.toMatchObject(busy);
  expect(host.spawner.children.length).toBe(2);
  expect(typesOf(session).filter((type) => type === "session.resumed")).toHaveLength(1);
});

test.each<[EndReason, string]>([
  ["user_requested", "refused"],
  ["parent_closed", "refused"],
  ["lifetime_timeout", "refused"],
  ["idle_timeout", "revived"],
])("an agent that ended by %s is %s", async (reason, outcome) => {
  await using host = openTestSessions();
  const { session } = await openAgent(host);
  await host.sessions.close(session.id, reason);
  const reviving = host.sessions.revive(again(session));
  if (outcome === "revived") expect((await reviving).isLive).toBe(true);
  else await expect(reviving).rejects.toMatchObject({ code: "already_exited" });
});

test("closing an agent that has ended makes its end final, for those who watch and for the next host", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  let changes = 0;
  session.changes.on(() => {
    changes += 1;
  });
  await host.sessions.close(session.id, "user_requested", "enough");
  const closed = { kind: "exited", exit_code: 0, reason: "user_requested", detail: "enough" };
  expect(session.view().state).toMatchObject({ ...closed, final: true });
  expect(changes).toBeGreaterThan(0);
  expect(readEvents(session).at(-1)).toMatchObject({ type: "session.exited", state: closed });
  expect(session.view().events_tail).toBe(session.eventsTail);
  const told = session.eventsTail;
  await host.sessions.close(session.id, "user_requested", "again");
  expect(session.view().state).toMatchObject(closed);
  expect(session.eventsTail).toBe(told);
  const { sessions: next } = await host.reopen();
  await expect(next.revive(again(session))).rejects.toMatchObject({ code: "already_exited" });
});

test("a user's close counts although the agent was already ending for its idleness", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host, { idle_timeout_ms: MINUTE });
  const release = child.holdEnd();
  host.clock.advance(2 * MINUTE);
  const closing = host.sessions.close(session.id, "user_requested");
  const reviving = expect(host.sessions.revive(again(session))).rejects.toMatchObject({
    code: "busy",
  });
  release();
  await Promise.all([closing, reviving]);
  expect(session.view().state).toMatchObject({ reason: "user_requested" });
});

test("the end of the host leaves agents that can go on, those that had ended included", async () => {
  await using host = openTestSessions();
  const parked = await openParked(host);
  const running = await openAgent(host);
  await host.sessions.shutdown();
  const { sessions: next } = await host.reopen();
  for (const { session } of [parked, running])
    expect((await next.revive(again(session))).view()).toMatchObject({
      life: 2,
      state: { kind: "running" },
    });
  await next.shutdown();
});

test("closing a parent closes its parked children for good, except detached ones", async () => {
  await using host = openTestSessions();
  const { session: parent } = await host.open();
  const child = await openParked(host, { parent_session_id: parent.id });
  const detached = await openParked(host, { parent_session_id: parent.id, detach: true });
  await host.sessions.close(parent.id, "user_requested");
  expect(child.session.view().state).toMatchObject({ reason: "parent_closed" });
  expect(detached.session.view().state).toMatchObject({ reason: "exited" });
});

test("what the last life left running is ended before the next begins", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.leftovers = 2;
  child.exit();
  const release = child.holdEnd();
  const reviving = host.sessions.revive(again(session));
  expect(session.isLive).toBe(false);
  expect(host.spawner.children.length).toBe(1);
  release();
  await reviving;
  expect(child.leftovers).toBe(0);
  expect(host.spawner.children.length).toBe(2);
});

test("what somebody prints through the descriptors of an ended life reaches no later one", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.exit();
  await host.sessions.revive(again(session));
  const before = session.eventsTail;
  child.print('{"type":"late"}\n');
  child.print("late", "stderr");
  child.finish();
  expect(session.eventsTail).toBe(before);
  expect(session.view().state).toEqual({ kind: "running" });
  host.spawner.last.print('{"type":"turn.started"}\n');
  expect(typesOf(session).at(-1)).toBe("turn.started");
});

test("half a line of an ended life stays alone: the next begins on a line of its own", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await openAgent(host, { idle_timeout_ms: MINUTE, grace_ms: 0 });
  disk.room = 60;
  child.print(`{"type":"message.delta","text":"${"x".repeat(100)}"}\n`);
  disk.room = 0;
  const ending = session.close("idle_timeout");
  await waitFor("the end to have waited long enough for room", () => {
    // In small steps: what is held is tried again soon after, and must not be by then.
    host.clock.advance(10);
    return !session.isLive;
  });
  await ending;
  const cut = session.eventsTail;
  disk.room = Number.POSITIVE_INFINITY;
  await host.sessions.revive(again(session));
  // What was held of the old life is not tried again in the new one.
  host.clock.advance(10_000);
  host.spawner.last.print('{"type":"turn.started"}\n');
  const text = readFileSync(join(session.dir, "events", "0000000000000000"), "utf8");
  const lines = text.split("\n");
  expect(lines[1]).toMatch(/^\{"type":"message.delta","text":"x+$/);
  expect(JSON.parse(lines[2] ?? "")).toMatchObject({ type: "session.resumed", from: cut + 1 });
  expect(JSON.parse(lines[3] ?? "")).toEqual({ type: "turn.started" });
});

test("a life that cannot be started is an end that says why, and may be tried again", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  host.spawner.failNext(new Fault("spawn_failed", "no such program"));
  await expect(host.sessions.revive(again(session))).rejects.toMatchObject({
    code: "spawn_failed",
  });
  expect(session.view()).toMatchObject({
    life: 2,
    state: { kind: "exited", exit_code: null, reason: "spawn_failed", detail: "no such program" },
  });
  expect(session.view().exited_at).not.toBeNull();
  expect(typesOf(session).slice(-2)).toEqual(["session.resumed", "session.exited"]);
  expect((await host.sessions.revive(again(session))).view()).toMatchObject({ life: 3 });
});

test("a close wins against a life that is being started, before the spawn and during it", async () => {
  await using host = openTestSessions();
  const early = await openParked(host);
  const release = early.child.holdEnd();
  const refused = expect(host.sessions.revive(again(early.session))).rejects.toMatchObject({
    code: "already_exited",
  });
  const closing = host.sessions.close(early.session.id, "user_requested");
  release();
  await Promise.all([refused, closing]);
  expect(host.spawner.children.length).toBe(1);
  const late = await openParked(host);
  const spawn = host.spawner.holdNext();
  const reviving = host.sessions.revive(again(late.session));
  await waitFor("the start", () => late.session.isLive);
  const ending = host.sessions.close(late.session.id, "user_requested");
  spawn();
  await Promise.allSettled([reviving, ending]);
  expect(late.session.view().state).toMatchObject({ reason: "user_requested" });
  expect(host.spawner.children.every((child) => child.reaped)).toBe(true);
});

test("a purge during the start leaves nothing behind", async () => {
  await using host = openTestSessions();
  const { session, child } = await openParked(host);
  const release = child.holdEnd();
  const refused = expect(host.sessions.revive(again(session))).rejects.toMatchObject({
    code: "already_exited",
  });
  const purging = host.sessions.purge(session.id);
  release();
  await Promise.all([refused, purging]);
  expect(host.sessions.find(session.id)).toBeUndefined();
  expect(() => readFileSync(join(session.dir, "session.json"))).toThrow(/ENOENT/);
});

test("a shutdown refuses a life that is being prepared", async () => {
  await using host = openTestSessions();
  const { session, child } = await openParked(host);
  const release = child.holdEnd();
  const refused = expect(host.sessions.revive(again(session))).rejects.toMatchObject({
    code: "shutting_down",
  });
  const ending = host.sessions.shutdown();
  release();
  await Promise.all([refused, ending]);
  expect(host.spawner.children.length).toBe(1);
});

test("a life counts among those that may live at once, also against one that came meanwhile", async () => {
  await using host = openTestSessions({ live_cap: 1 });
  const { session, child } = await openParked(host);
  const release = child.holdEnd();
  const refused = expect(host.sessions.revive(again(session))).rejects.toMatchObject({
    code: "too_many",
  });
  const other = await openAgent(host);
  release();
  await refused;
  other.child.exit();
  await host.sessions.revive(again(session));
  await expect(openAgent(host)).rejects.toMatchObject({ code: "too_many" });
});

test("the timers of a life begin with it, and those of the last one reach it not", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host, {
    idle_timeout_ms: 10 * MINUTE,
    lifetime_ms: 30 * MINUTE,
  });
  host.clock.advance(9 * MINUTE);
  child.exit();
  child.finish();
  await host.sessions.revive(again(session));
  const next = host.spawner.last;
  host.clock.advance(9 * MINUTE);
  expect(next.graces).toEqual([]);
  for (let minute = 0; minute < 20; minute += 5) {
    session.input({ bytes: Buffer.from("x") });
    host.clock.advance(5 * MINUTE);
  }
  expect(next.graces).toEqual([]);
  session.input({ bytes: Buffer.from("x") });
  host.clock.advance(2 * MINUTE);
  expect(next.graces.length).toBe(1);
  await session.close("user_requested");
  expect(session.view().state).toMatchObject({ reason: "lifetime_timeout" });
});

test("input is for the life that it was typed into: its id means nothing to the next", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  for (let time = 0; time < 2; time += 1)
    session.input({ bytes: Buffer.from("a"), input_id: "one" });
  child.exit();
  child.finish();
  const refused = expect.objectContaining({ code: "already_exited" });
  expect(() => session.input({ bytes: Buffer.from("a") })).toThrow(refused);
  await host.sessions.revive(again(session));
  for (let time = 0; time < 2; time += 1)
    session.input({ bytes: Buffer.from("a"), input_id: "one" });
  expect(child.written.toString()).toBe("a");
  expect(host.spawner.last.written.toString()).toBe("a");
});

test("viewers stay across lives, control does not and can be taken again", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  const first = session.audience.attach("ana", "controller", { takeover: false });
  child.exit();
  child.finish();
  await host.sessions.revive(again(session));
  expect(session.view()).toMatchObject({ viewers: 1, controller: null });
  const second = session.audience.take("ana", { takeover: false });
  expect(second).toBeGreaterThan(first ?? 0);
});

test("what was revived is not removed for having ended, nor what is being revived", async () => {
  const keep = { kept_ms: MINUTE, kept_count: 100, kept_bytes: 1e9 };
  await using host = openTestSessions({ keep });
  await host.sessions.recover();
  const { session } = await openParked(host);
  const held = await openParked(host);
  await host.sessions.revive(again(session));
  const release = held.child.holdEnd();
  const reviving = host.sessions.revive(again(held.session));
  host.clock.advance(30 * MINUTE);
  release();
  await reviving;
  expect(host.sessions.all()).toHaveLength(2);
  host.spawner.last.exit();
  host.spawner.last.finish();
  host.clock.advance(30 * MINUTE);
  expect(host.sessions.all()).toEqual([session]);
});

test("a host that died while a life began leaves a lost session, which goes on in the next", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  const release = host.spawner.holdNext();
  const reviving = host.sessions.revive(again(session));
  await waitFor("the start", () => session.isLive);
  const written = JSON.parse(readFileSync(join(session.dir, "session.json"), "utf8"));
  expect(written).toMatchObject({ version: 1, life: 2, state: { kind: "starting" } });
  const { sessions: next, spawner } = await host.reopen();
  const found = next.get(session.id);
  expect(found.view()).toMatchObject({ life: 2, state: { kind: "lost" } });
  expect((await next.revive(again(session))).view()).toMatchObject({
    life: 3,
    state: { kind: "running" },
  });
  // Also what the dead host had started, if it had.
  expect(spawner.leftovers.map(({ session_id }) => session_id)).toContain(session.id);
  expect(typesOf(found).filter((type) => type !== "session.title")).toEqual([
    "session.opened",
    "session.exited",
    "session.resumed",
    "session.exited",
    "session.resumed",
  ]);
  await next.shutdown();
  release();
  await reviving;
});

test("a record without a life, as an older host wrote it, is one of the first life", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  const file = join(session.dir, "session.json");
  const { life: _, ...older } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify(older));
  const { sessions: next } = await host.reopen();
  expect(next.get(session.id).view().life).toBe(1);
  expect((await next.revive(again(session))).view().life).toBe(2);
  await next.shutdown();
});

test("a title that is given while something still holds the output does not end its log", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.exit();
  session.rename({ title: "named" });
  child.print("late");
  child.finish();
  expect(readOutput(session)).toBe("late");
});

test("a close of what another host started counts at once, before its leftovers are ended", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  const { sessions: next } = await host.reopen();
  const closing = next.close(session.id, "user_requested");
  expect(() => next.get(session.id).checkRevival()).toThrow(
    expect.objectContaining({ code: "already_exited" }),
  );
  await closing;
});

test("a close whose word cannot be written is answered with the reason, and nothing else is left to catch", async () => {
  await using host = openTestSessions();
  const { session } = await openParked(host);
  const { sessions: next, spawner } = await host.reopen();
  writeFileSync(join(session.dir, "events", "0000000000000000.idx"), "no index of ours".repeat(9));
  spawner.endLeftovers = async () => {
    await setImmediate();
    return [];
  };
  await expect(next.close(session.id, "user_requested")).rejects.toThrow("is not the index");
});
