import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { FullDisk } from "#host/testing/full-disk.ts";
import { openTestSessions, readEvents, readOutput } from "#host/testing/open-test-sessions.ts";
import type { FakeChild } from "#proc/testing/fake-child.ts";

const MINUTE = 60_000;

describe("a session that is handed over", () => {
  test("goes on with the same child, log and state", async () => {
    await using host = openTestSessions();
    const { session, child } = await host.open({ kind: "command", argv: ["x"] });
    child.print("before ");
    const next = await host.succeed();
    const after = next.sessions.get(session.id);
    expect(after.view()).toEqual(session.view());
    next.spawner.last.print("after");
    next.spawner.last.exit({ exit_code: 3, signal: null });
    next.spawner.last.finish();
    expect(readOutput(after)).toBe("before after");
    expect(after.view().state).toMatchObject({ kind: "exited", exit_code: 3, final: true });
    expect(readEvents(after).map(({ type }) => type)).toEqual(["session.opened", "session.exited"]);
    expect(next.spawner.leftovers).toEqual([]);
  });

  test("keeps what was written when its disk had room again, right before", async () => {
    const disk = new FullDisk();
    await using host = openTestSessions({ logIo: disk.io });
    const { session, child } = await host.open({ kind: "command" });
    child.print("kept");
    disk.room = 0;
    child.print("lost");
    child.exit();
    child.finish();
    disk.room = Number.POSITIVE_INFINITY;
    host.clock.advance(100);
    expect(host.sessions.settle()).toBe(true);
    const after = (await host.succeed()).sessions.get(session.id);
    expect(after.tail).toBe("kept".length + "lost".length);
    expect(after.eventsTail).toBe(session.eventsTail);
    expect(readOutput(after)).toBe("kept");
  });

  test("is closed by its timers when they would have been", async () => {
    await using host = openTestSessions();
    const idle = await host.open({ idle_timeout_ms: 30 * MINUTE });
    const old = await host.open({ lifetime_ms: 50 * MINUTE });
    host.clock.advance(20 * MINUTE);
    const next = await host.succeed(4 * MINUTE);
    const gracesOf = (at: number) => (next.spawner.children[at] as FakeChild).graces.length;
    next.clock.advance(5 * MINUTE);
    expect([gracesOf(0), gracesOf(1)]).toEqual([0, 0]);
    next.clock.advance(2 * MINUTE);
    expect([gracesOf(0), gracesOf(1)]).toEqual([1, 0]);
    next.clock.advance(20 * MINUTE);
    expect([gracesOf(0), gracesOf(1)]).toEqual([1, 1]);
    expect(next.sessions.all().map(({ id }) => id)).toEqual([idle.session.id, old.session.id]);
  });

  test("has seen the inputs that it had seen", async () => {
    await using host = openTestSessions();
    const { session } = await host.open();
    session.input({ bytes: Buffer.from("a"), input_id: "one" });
    const next = await host.succeed();
    const after = next.sessions.get(session.id);
    after.input({ bytes: Buffer.from("a"), input_id: "one" });
    after.input({ bytes: Buffer.from("b"), input_id: "two" });
    expect(next.spawner.last.written.toString()).toBe("b");
  });

  test("has the same controller until its lease is over", async () => {
    await using host = openTestSessions();
    const { session } = await host.open();
    const generation = session.audience.attach("me", "controller", { takeover: false });
    host.clock.advance(limits.lease_ms - 10_000);
    const next = await host.succeed(4000);
    const after = next.sessions.get(session.id);
    expect(after.audience.controller).toEqual({ holder: "me", generation });
    next.clock.advance(5900);
    expect(after.audience.controller).not.toBeNull();
    next.clock.advance(200);
    expect(after.audience.controller).toBeNull();
    expect(after.audience.take("me", { takeover: false })).toBe((generation ?? 0) + 1);
  });

  test("of an agent completes the line that it was in", async () => {
    await using host = openTestSessions();
    const { session, child } = await host.open({ kind: "agent", argv: ["x"] });
    child.print('{"type":"a"}\n{"type":');
    const next = await host.succeed();
    next.spawner.last.print('"b"}\n');
    const types = readEvents(next.sessions.get(session.id)).map(({ type }) => type);
    expect(types).toEqual(["session.opened", "a", "b"]);
  });

  test("that has ended still has its tree, and its key makes no other", async () => {
    await using host = openTestSessions();
    const labels = { idempotency_key: "k" };
    const { session, child } = await host.open({ labels });
    child.exit();
    child.finish();
    const next = await host.succeed();
    next.spawner.last.leftovers = 2;
    expect(next.sessions.get(session.id).countTree()).toBe(2);
    expect(next.sessions.live).toBe(0);
    const again = await next.sessions.create({
      ...{ kind: "terminal", work_dir: "/", env: {}, labels },
    });
    expect(again.id).toBe(session.id);
  });

  test("that cannot be taken over is lost, alone", async () => {
    await using host = openTestSessions();
    const first = await host.open();
    const second = await host.open();
    const pid = first.child.identity.pid;
    const next = await host.succeed(0, (spawner) => {
      const { adopt } = spawner;
      spawner.adopt = (sessionId, handed, listener) => {
        if (handed.identity.pid === pid) throw new Error("a bad descriptor");
        return adopt.call(spawner, sessionId, handed, listener);
      };
    });
    expect(next.sessions.get(first.session.id).view().state.kind).toBe("lost");
    expect(next.spawner.leftovers).toMatchObject([{ session_id: first.session.id }]);
    expect(next.sessions.get(second.session.id).isLive).toBe(true);
  });
});

describe("the moment for it", () => {
  test("is not while a session starts, closes or owes its log", async () => {
    await using host = openTestSessions();
    expect(host.sessions.settle()).toBe(true);
    const release = host.spawner.holdNext();
    const opening = host.open();
    expect(host.sessions.settle()).toBe(false);
    release();
    const { session, child } = await opening;
    expect(host.sessions.settle()).toBe(true);
    const end = child.holdEnd();
    const closed = session.close("user_requested");
    expect(host.sessions.settle()).toBe(false);
    end();
    await closed;
    expect(host.sessions.settle()).toBe(true);
  });
});
