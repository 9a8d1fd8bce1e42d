import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { FullDisk } from "./testing/full-disk.ts";
import {
  createRequest,
  openTestSessions,
  readEvents,
  readOutput,
} from "./testing/open-test-sessions.ts";

test("opens with an id, the work dir, the size and the marks in the environment", async () => {
  await using host = openTestSessions();
  const labels = {
    workspace_id: "wsp_local",
    task_id: "tsk_0123456789abcdef",
    issue_id: "iss-1",
    user_id: "ana",
  };
  const { session } = await host.open({
    cols: 120,
    rows: 40,
    labels,
    env: { PATH: "/bin", REINS_TOKEN: "secret", REINS_HOME: "/h" },
  });
  const spec = host.spawner.specs[0];
  expect(session.id).toMatch(/^ses_[0-9a-z]{16}$/);
  expect(spec).toMatchObject({ work_dir: "/", size: { cols: 120, rows: 40 }, argv: ["/bin/sh"] });
  expect(spec?.env).toEqual({
    PATH: "/bin",
    REINS_HOME: "/h",
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    REINS_SESSION_ID: session.id,
    REINS_WORKSPACE_ID: "wsp_local",
    REINS_TASK_ID: "tsk_0123456789abcdef",
    REINS_ISSUE_ID: "iss-1",
    REINS_USER_ID: "ana",
  });
  expect(session.view()).toMatchObject({
    state: { kind: "running" },
    task_id: "tsk_0123456789abcdef",
    cols: 120,
    rows: 40,
  });
});

test("a terminal without a size is 80×24, a command has none", async () => {
  await using host = openTestSessions();
  expect((await host.open()).session.view()).toMatchObject({ mode: "pty", cols: 80, rows: 24 });
  expect((await host.open({ kind: "command" })).session.view()).toMatchObject({
    mode: "pipe",
    cols: null,
    rows: null,
  });
});

test("bytes go in and come out as they are", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  session.input({ bytes: Buffer.from("in\0\xff") });
  child.print("out");
  expect(child.written).toEqual(Buffer.from("in\0\xff"));
  expect(readOutput(session)).toBe("out");
});

test("writes the record with its labels before the child is started", async () => {
  await using host = openTestSessions();
  const release = host.spawner.holdNext();
  const opening = host.sessions.create(createRequest({ labels: { owner: "me" } }));
  const [id = ""] = readdirSync(host.folder);
  const record = JSON.parse(readFileSync(join(host.folder, id, "session.json"), "utf8"));
  expect(record).toMatchObject({
    version: 1,
    state: { kind: "starting" },
    labels: { owner: "me" },
    process: null,
  });
  release();
  expect((await opening).view().state).toEqual({ kind: "running" });
});

test("a failed spawn carries its fault and leaves no trace", async () => {
  await using host = openTestSessions();
  host.spawner.failNext(new Fault("unsupported_os", "not here"));
  await expect(host.open()).rejects.toMatchObject({ code: "unsupported_os" });
  host.spawner.failNext(new Fault("spawn_failed", "no", { details: { errno: "ENOENT" } }));
  await expect(host.open()).rejects.toMatchObject({
    code: "spawn_failed",
    details: { errno: "ENOENT" },
  });
  expect(host.sessions.all()).toEqual([]);
  expect(readdirSync(host.folder)).toEqual([]);
});

test("everybody sees all output, then the exit, then the end of the output", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const seen: string[] = [];
  session.tails.on(() => seen.push(`tail ${session.tail}`));
  session.changes.on(() => {
    const { state } = session.view();
    seen.push(
      state.kind === "exited"
        ? `exited ${state.exit_code} final ${state.final} at ${state.tail}`
        : state.kind,
    );
  });
  child.print("abc");
  child.exit({ exit_code: 3, signal: null });
  child.print("late");
  child.finish();
  const interesting = seen.filter((entry, at) => entry !== seen[at - 1]);
  expect(interesting[0]).toBe("tail 3");
  expect(interesting.indexOf("exited 3 final false at 3")).toBeLessThan(
    interesting.indexOf("tail 7"),
  );
  expect(interesting.at(-1)).toBe("exited 3 final true at 3");
  expect(readOutput(session)).toBe("abclate");
});

test("an exit keeps code, signal and reason apart", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.exit({ exit_code: 137, signal: "SIGKILL" });
  expect(session.view().state).toMatchObject({
    kind: "exited",
    exit_code: 137,
    signal: "SIGKILL",
    reason: "exited",
  });
  expect(readEvents(session).map((event) => event.type)).toEqual([
    "session.opened",
    "session.exited",
  ]);
});

test("closing after a natural exit changes nothing of it and waits for nothing", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.exit({ exit_code: 4, signal: null });
  child.finish();
  const before = session.view().state;
  await session.close("user_requested");
  expect(session.view().state).toEqual(before);
});

test("what the child left running is ended by a later close, also by the next host", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.leftovers = 2;
  child.exit();
  child.finish();
  expect(session.countTree()).toBe(2);
  await host.sessions.close(session.id, "user_requested");
  expect(session.countTree()).toBe(0);
  const { sessions, spawner } = await host.reopen();
  await sessions.close(session.id, "user_requested");
  expect(spawner.leftovers.map((leftover) => leftover.session_id)).toEqual([session.id]);
});

test("closing twice is harmless and the first reason stays", async () => {
  await using host = openTestSessions();
  const { session } = await host.open();
  const first = host.sessions.close(session.id, "user_requested", "enough");
  const second = host.sessions.close(session.id, "idle_timeout", "later");
  await Promise.all([first, second]);
  await host.sessions.close(session.id, "lifetime_timeout");
  expect(session.view().state).toMatchObject({
    kind: "exited",
    exit_code: 129,
    signal: "SIGHUP",
    reason: "user_requested",
    detail: "enough",
  });
});

test("after a close the session is exited and readable, not gone", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.print("kept");
  await host.sessions.close(session.id, "user_requested");
  expect(host.sessions.get(session.id).view().state.kind).toBe("exited");
  expect(readOutput(session)).toBe("kept");
});

test("what an ended session has left running can still be signalled as its tree", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.leftovers = 2;
  child.exit({ exit_code: 0, signal: null });
  expect(session.signal("SIGTERM", "tree")).toBe(2);
  expect(child.treeSignals).toEqual(["SIGTERM"]);
  const refused = expect.objectContaining({ code: "already_exited" });
  expect(() => session.signal("SIGTERM", "foreground")).toThrow(refused);
  child.leftovers = 0;
  expect(() => session.signal("SIGTERM", "tree")).toThrow(refused);
});

test("input, resize and signals are refused once closing has begun", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const release = child.holdEnd();
  const closing = host.sessions.close(session.id, "user_requested");
  const refused = expect.objectContaining({ code: "already_exited" });
  expect(() => session.input({ bytes: Buffer.from("x") })).toThrow(refused);
  expect(() => session.resize({ cols: 10, rows: 10 }, undefined)).toThrow(refused);
  expect(() => session.signal("SIGINT", "foreground")).toThrow(refused);
  release();
  await closing;
  expect(() => session.input({ bytes: Buffer.from("x") })).toThrow(refused);
  expect(child.written.length).toBe(0);
});

test("a close that wins against a spawn in flight ends and reaps the child", async () => {
  await using host = openTestSessions();
  const release = host.spawner.holdNext();
  const opening = host.sessions.create(createRequest());
  const [id = ""] = readdirSync(host.folder);
  const closing = host.sessions.close(id, "user_requested");
  release();
  await Promise.all([opening, closing]);
  expect(host.spawner.last.reaped).toBe(true);
  expect(host.sessions.get(id).view().state).toMatchObject({
    kind: "exited",
    reason: "user_requested",
  });
});

test("a shutdown ends all sessions in parallel and refuses new ones", async () => {
  await using host = openTestSessions();
  const opened = await Promise.all(Array.from({ length: 5 }, () => host.open()));
  const releases = host.spawner.children.map((child) => child.holdEnd());
  const ends = Array.from({ length: 4 }, () => host.sessions.shutdown());
  // All of them are being ended although none has ended yet: one grace for all.
  expect(host.spawner.children.map((child) => child.graces)).toEqual(
    Array.from({ length: 5 }, () => [250]),
  );
  await expect(host.open()).rejects.toMatchObject({ code: "shutting_down" });
  for (const release of releases) release();
  await Promise.all(ends);
  for (const { session } of opened)
    expect(session.view().state).toMatchObject({ kind: "exited", reason: "host_shutdown" });
});

test("every caller of a shutdown waits until the last session has ended", async () => {
  await using host = openTestSessions();
  const { child, session } = await host.open();
  const release = child.holdEnd();
  const order: string[] = [];
  const first = host.sessions.shutdown().then(() => order.push(`first ${session.isLive}`));
  const second = host.sessions.shutdown().then(() => order.push(`second ${session.isLive}`));
  order.push("released");
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(["released", "first false", "second false"]);
});

test("a shutdown that wins against a spawn in flight ends the child and answers shutting_down", async () => {
  await using host = openTestSessions();
  const release = host.spawner.holdNext();
  const opening = host.sessions.create(createRequest());
  const ending = host.sessions.shutdown();
  release();
  await expect(opening).rejects.toMatchObject({ code: "shutting_down" });
  await ending;
  expect(host.spawner.last.reaped).toBe(true);
});

test("what could not be ended is named", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const survivor = { pid: 7, uid: 0, command: "sudo", why: "it runs as another user" };
  child.survivors = [survivor];
  await host.sessions.close(session.id, "user_requested");
  expect(session.view().state).toMatchObject({ kind: "exited", survivors: [survivor] });
});

test("closing a parent closes its children, except detached ones; its own end leaves them", async () => {
  await using host = openTestSessions();
  const parent = await host.open();
  const child = await host.open({ parent_session_id: parent.session.id });
  const grandchild = await host.open({ parent_session_id: child.session.id });
  const detached = await host.open({ parent_session_id: parent.session.id, detach: true });
  await host.sessions.close(parent.session.id, "user_requested");
  expect(child.session.view().state).toMatchObject({ reason: "parent_closed" });
  expect(grandchild.session.view().state).toMatchObject({ reason: "parent_closed" });
  expect(detached.session.isLive).toBe(true);
  const other = await host.open();
  const left = await host.open({ parent_session_id: other.session.id });
  other.child.exit();
  expect(left.session.isLive).toBe(true);
  await expect(
    host.open({ parent_session_id: "ses_0000000000000000" as never }),
  ).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("what a session starts while it is being closed is closed with it", async () => {
  await using host = openTestSessions();
  const parent = await host.open();
  const release = parent.child.holdEnd();
  const closing = host.sessions.close(parent.session.id, "user_requested");
  const late = await host.open({ parent_session_id: parent.session.id });
  release();
  await closing;
  expect(late.session.view().state).toMatchObject({ kind: "exited", reason: "parent_closed" });
});

test("refuses more sessions than may live at once", async () => {
  await using host = openTestSessions({ live_cap: 2 });
  const { child } = await host.open();
  await host.open();
  await expect(host.open()).rejects.toMatchObject({ code: "too_many", details: { limit: 2 } });
  child.exit();
  await host.open();
});

test("the same idempotency key never starts twice, also across a restart of the host", async () => {
  await using host = openTestSessions();
  const request = createRequest({ labels: { idempotency_key: "k", owner: "a" } });
  const release = host.spawner.holdNext();
  const both = [host.sessions.create(request), host.sessions.create(request)];
  release();
  const [one, two] = await Promise.all(both);
  expect(one?.id).toBe(two?.id);
  const other = await host.sessions.create(
    createRequest({ labels: { idempotency_key: "k", owner: "b" } }),
  );
  expect(other.id).not.toBe(one?.id);
  expect(host.spawner.children.length).toBe(2);
  const { sessions: next } = await host.reopen();
  expect((await next.create(request)).id).toBe(one?.id);
});

test("a key whose start failed may be used again", async () => {
  await using host = openTestSessions();
  const request = createRequest({ labels: { idempotency_key: "k" } });
  host.spawner.failNext(new Fault("spawn_failed", "no"));
  await expect(host.sessions.create(request)).rejects.toMatchObject({ code: "spawn_failed" });
  expect((await host.sessions.create(request)).isLive).toBe(true);
});

test("purging removes every trace", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.print("secret");
  await host.sessions.purge(session.id);
  expect(existsSync(session.dir)).toBe(false);
  expect(() => host.sessions.get(session.id)).toThrow(
    expect.objectContaining({ code: "session_not_found" }),
  );
});

test("a close that waits for a spawn is answered when the spawn fails", async () => {
  await using host = openTestSessions();
  const release = host.spawner.holdNext();
  host.spawner.failNext(new Fault("spawn_failed", "no"));
  const opening = host.sessions.create(createRequest());
  const [id = ""] = readdirSync(host.folder);
  const closing = host.sessions.close(id, "user_requested");
  release();
  await expect(opening).rejects.toMatchObject({ code: "spawn_failed" });
  await closing;
});

test("a key that met a full host may be used again", async () => {
  await using host = openTestSessions({ live_cap: 1 });
  const { child } = await host.open();
  const request = createRequest({ labels: { idempotency_key: "k" } });
  await expect(host.sessions.create(request)).rejects.toMatchObject({ code: "too_many" });
  child.exit();
  expect((await host.sessions.create(request)).isLive).toBe(true);
});

test("what a full disk did not take is a gap, and the session says so until bytes are kept again", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open();
  child.print("kept");
  disk.room = 0;
  child.print("lost");
  expect(session.view().log_fault).toMatchObject({ code: "disk_full", lost_bytes: 4 });
  disk.room = Number.POSITIVE_INFINITY;
  host.clock.advance(5000);
  child.print("again");
  expect(readOutput(session)).toBe("keptagain");
  expect(session.view()).toMatchObject({ tail: 13, log_fault: { code: "gap", lost_bytes: 4 } });
});

test("what a session printed is there for the next host, although the disk was full at its end", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open({ kind: "command" });
  child.print("kept");
  disk.room = 0;
  child.print("lost");
  child.exit();
  child.finish();
  const { sessions: next } = await host.reopen();
  const found = next.get(session.id);
  expect(found.view()).toMatchObject({ state: { final: true }, tail: session.tail });
  expect(readOutput(found)).toBe("kept");
});
