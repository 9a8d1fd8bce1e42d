import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { FullDisk } from "#host/testing/full-disk.ts";
import { openTestSessions, readEvents, readOutput } from "#host/testing/open-test-sessions.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { waitFor } from "#test/harness/eventually.ts";

test("a session has as many viewers as it may, and who comes then changes nothing", async () => {
  await using host = openTestSessions();
  const { audience } = (await host.open()).session;
  for (let at = 0; at < limits.viewers_per_session; at += 1)
    audience.attach(`viewer ${at}`, "viewer", { takeover: false });
  const attach = () => audience.attach("one more", "controller", { takeover: true });
  expect(attach).toThrow(expect.objectContaining({ code: "too_many" }));
  expect(audience.controller).toBeNull();
  audience.detach("viewer 0");
  expect(attach()).toBe(1);
});

test("input and its end are taken together or not at all", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ kind: "command", stdin: true });
  Object.defineProperty(child, "queuedInputBytes", { value: limits.input_queue_bytes - 3 });
  const type = (text: string) => session.input({ bytes: Buffer.from(text), eof: true });
  expect(() => type("abc")).toThrow(expect.objectContaining({ code: "queue_full" }));
  expect([child.written.toString(), child.inputEnded]).toEqual(["", false]);
  type("ab");
  expect([child.written.toString(), child.inputEnded]).toEqual(["ab", true]);
});

test("a log that is removed while it is written is noticed within a moment, and said", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.print("before");
  rmSync(join(session.dir, "output"), { recursive: true });
  host.clock.advance(100);
  child.print("after");
  expect(session.tail).toBe("beforeafter".length);
  expect(readOutput(session)).toBe("after");
  expect(readEvents(session).at(-1)).toMatchObject({
    type: "warning",
    message: expect.stringContaining("removed"),
  });
});

test("an agent whose events have reached their limit is over, and says why", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
  child.exit();
  child.finish();
  {
    using events = openLogWriter({ dir: join(session.dir, "events"), clock: host.clock });
    events.skip(limits.events_bytes - events.tail - 300);
  }
  await host.sessions.revive({ session_id: session.id, argv: ["again"], env: {} });
  const agent = host.spawner.last;
  agent.print('{"type":"turn.started"}\n');
  expect(agent.graces).toEqual([]);
  agent.print(`{"text":"${"x".repeat(1000)}"}\n`);
  expect(agent.graces).toEqual([limits.grace_agent_ms]);
  await session.close("user_requested");
  expect(session.view().state).toMatchObject({
    reason: "lifetime_timeout",
    detail: "its events log has reached its limit",
    final: true,
  });
  // Not even its end has room there, and nothing waits for some.
  expect(session.eventsTail).toBeLessThan(limits.events_bytes);
  expect(session.settleLogs()).toBe(true);
});

test("a close waits for room on the disk for as long as an end takes, and then tells the exit", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
  disk.room = 0;
  child.print('{"type":"turn.started"}\n');
  const closing = host.sessions.close(session.id, "user_requested");
  await waitFor("the end of the child", () => child.reaped);
  expect(session.isLive).toBe(true);
  host.clock.advance(limits.tree_kill_ms);
  await closing;
  expect(session.view().state).toMatchObject({ kind: "exited", exit_code: 129, signal: "SIGHUP" });
});

test("a child that nobody can end is hung up on and named, and the session has ended", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const survivor = { pid: child.pid, uid: 0, command: "stuck", why: "it is in state D" };
  child.endTree = () => Promise.resolve([survivor]);
  const before = host.clock.timers;
  const closing = host.sessions.close(session.id, "user_requested");
  await waitFor("the close to wait for it", () => host.clock.timers > before);
  host.clock.advance(limits.tree_kill_ms);
  await closing;
  expect(child.isDisposed).toBe(true);
  expect(session.view().state).toMatchObject({
    kind: "exited",
    exit_code: null,
    final: true,
    survivors: [survivor],
  });
});

test("an exit on a full disk counts all that was printed, and what found no room is a gap", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open();
  child.print("kept");
  disk.room = 0;
  child.print("lost ");
  child.print("and lost");
  child.exit({ exit_code: 3, signal: null });
  const printed = "keptlost and lost".length;
  expect(session.view().state).toMatchObject({ kind: "exited", exit_code: 3, tail: printed });
  expect(session.view()).toMatchObject({ tail: printed, log_fault: { lost_bytes: 13 } });
  using source = openLogFiles(join(session.dir, "output"));
  expect(source.read(4, { limit: 100, tail: printed })).toEqual({ kind: "gap", from: 4, to: 17 });
  child.finish();
  // A host that ends before there is room knows as much.
  const { sessions: next } = await host.reopen();
  expect(next.get(session.id).view()).toMatchObject({ tail: printed, state: { tail: printed } });
});
