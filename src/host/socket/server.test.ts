import { once } from "node:events";
import { rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { openTestSessions, type TestSessions } from "#host/testing/open-test-sessions.ts";
import { openLibc } from "#proc/linux/libc.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { HostClient } from "./client.ts";
import { connectHost } from "./connect-host.ts";
import { encodeJson, FrameReader } from "./frames.ts";
import type { HostHealth } from "./methods.ts";
import { type HostServer, type HostServerDeps, openHostServer } from "./server.ts";

interface Served extends AsyncDisposable {
  readonly host: TestSessions;
  readonly server: HostServer;
  readonly path: string;
  client(): Promise<HostClient>;
}

async function serve(): Promise<Served> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(openTestSessions());
  const path = join(host.folder, "s");
  const server = stack.use(await openHostServer(path, describeDeps(host)));
  const owned = stack.move();
  return {
    host,
    server,
    path,
    client: async () => owned.use(await connectHost(path)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function describeDeps({ sessions }: TestSessions): HostServerDeps {
  return {
    sessions,
    log: silentLogger,
    version: "test",
    // Only its shape matters here.
    health: () => ({ pid: 1 }) as HostHealth,
    shutdown: () => undefined,
    upgrade: () => Promise.reject(new Error("not here")),
    onConnections: () => undefined,
  };
}

test("says hello first, on a socket for its user alone", async () => {
  await using served = await serve();
  const client = await served.client();
  expect(client.hello).toMatchObject({ type: "hello", protocol: 1, pid: process.pid });
  expect(statSync(served.path).mode & 0o777).toBe(0o600);
});

test("a watch hears the tails and then the exit, in that order", async () => {
  await using served = await serve();
  const client = await served.client();
  const { session, child } = await served.host.open();
  using watch = await client.watch(session.id);
  child.print("abc");
  child.exit({ exit_code: 4, signal: null });
  const seen: string[] = [];
  while (watch.session.state.kind !== "exited") {
    await watch.changed();
    seen.push(`${watch.tail} ${watch.session.state.kind}`);
  }
  expect(seen.at(-1)).toBe("3 exited");
  expect(seen).not.toContain("0 exited");
});

test("a client that goes away frees its control; nobody else notices", async () => {
  await using served = await serve();
  const { session } = await served.host.open();
  const gone = await connectHost(served.path);
  const stays = await served.client();
  await gone.call("session.attach", { session_id: session.id, viewer: "a", role: "controller" });
  using watch = await stays.watch(session.id);
  await expect(
    stays.call("session.attach", { session_id: session.id, viewer: "b", role: "controller" }),
  ).rejects.toMatchObject({ code: "not_controller" });
  gone[Symbol.dispose]();
  await watch.until(({ session: { controller, viewers } }) => controller === null && viewers === 0);
  const { generation } = await stays.call("session.attach", {
    session_id: session.id,
    viewer: "b",
    role: "controller",
  });
  await stays.call("session.input", {
    session_id: session.id,
    data_b64: "eA==",
    generation: generation ?? 0,
  });
  expect(served.host.spawner.last.written.toString()).toBe("x");
});

test("two clients whose viewers have one name are two viewers, and one's leaving takes nothing from the other", async () => {
  await using served = await serve();
  const { session } = await served.host.open();
  const [one, two] = await Promise.all([served.client(), served.client()]);
  const attach = (client: HostClient, role: "viewer" | "controller") =>
    client.call("session.attach", { session_id: session.id, viewer: "local", role });
  const holds = await attach(one, "controller");
  const watches = await attach(two, "viewer");
  expect(session.view().viewers).toBe(2);
  await two.call("session.detach", { attachment: watches.attachment });
  expect(await one.call("session.renew", { attachment: holds.attachment })).toEqual({ held: true });
  expect(session.view().viewers).toBe(1);
});

test("bad requests get named faults and the connection lives", async () => {
  await using served = await serve();
  const client = await served.client();
  const { session } = await served.host.open();
  const { session_id } = { session_id: session.id };
  const cases: [Promise<unknown>, string][] = [
    [client.call("session.get", { session_id: "ses_nope" }), "session_not_found"],
    [client.call("session.get", {} as never), "invalid_request"],
    [client.call("session.signal", { session_id, signal: "SIGNOPE" }), "invalid_request"],
    [client.call("session.resize", { session_id, cols: 70_000, rows: 1 }), "invalid_request"],
    [client.call("session.resize", { session_id, cols: Number.NaN, rows: 1 }), "invalid_request"],
    [client.call("session.input", { session_id, data_b64: "***" }), "invalid_request"],
    [client.call("session.detach", { attachment: 99 }), "invalid_request"],
    [client.call("session.fly" as "session.get", { session_id }), "unsupported"],
    [client.call("toString" as "session.get", { session_id }), "unsupported"],
  ];
  for (const [call, code] of cases) await expect(call).rejects.toMatchObject({ code });
  expect((await client.call("session.get", { session_id })).state.kind).toBe("running");
});

test("lists the newest first, by page, with filters", async () => {
  await using served = await serve();
  const client = await served.client();
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    ids.unshift(
      (
        await served.host.open({
          title: `Number ${at}`,
          labels: { workspace_id: at < 3 ? "a" : "b" },
        })
      ).session.id,
    );
    served.host.clock.advance(1000);
  }
  const first = await client.call("session.list", { limit: 3 });
  const second = await client.call("session.list", { limit: 3, cursor: first.cursor ?? "" });
  expect([...first.sessions, ...second.sessions].map((session) => session.session_id)).toEqual(ids);
  expect(second.cursor).toBeNull();
  const inA = await client.call("session.list", { labels: { workspace_id: "a" } });
  expect(inA.sessions.length).toBe(3);
  expect((await client.call("session.list", { q: "number 4" })).sessions.length).toBe(1);
  expect((await client.call("session.list", { state: "exited" })).sessions).toEqual([]);
});

test("a list of long command lines comes in pages that a frame can hold", async () => {
  await using served = await serve();
  const client = await served.client();
  const line = "\n".repeat(100_000);
  const ids: string[] = [];
  for (let at = 0; at < 100; at += 1)
    ids.push((await served.host.open({ argv: ["cat", line] })).session.id);
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.call("session.list", { limit: 100, cursor: cursor ?? undefined });
    expect(page.total).toBe(100);
    found.push(...page.sessions.map((session) => session.session_id));
    cursor = page.cursor;
  }
  expect(found.toSorted()).toEqual(ids.toSorted());
});

test("hears of every session that is made, changed or removed", async () => {
  await using served = await serve();
  const client = await served.client();
  const heard: string[] = [];
  const removed = Promise.withResolvers<void>();
  await client.watchAll((sessionId, session, reason) => {
    heard.push(`${sessionId} ${session?.state.kind ?? `removed: ${reason}`}`);
    if (session === null) removed.resolve();
  });
  const { session } = await served.host.open();
  await served.host.sessions.purge(session.id);
  await removed.promise;
  expect(heard.at(-1)).toBe(`${session.id} removed: user_requested`);
});

test("what is typed at a place reaches the child once, in order, and only from who holds control", async () => {
  await using served = await serve();
  const client = await served.client();
  const { session, child } = await served.host.open();
  const attach = (role: "viewer" | "controller", takeover = false) =>
    client.call("session.attach", { session_id: session.id, viewer: "ana", role, takeover });
  const first = await attach("controller");
  await Promise.all([
    client.type(first.attachment, Buffer.from("a"), "one"),
    client.type(first.attachment, Buffer.from("a"), "one"),
    client.type(first.attachment, Buffer.from("b"), undefined),
  ]);
  expect(child.written.toString()).toBe("ab");
  await attach("controller", true);
  await expect(client.type(first.attachment, Buffer.from("x"), undefined)).rejects.toMatchObject({
    code: "not_controller",
  });
  const refused: [Promise<unknown>, string][] = [
    [client.type(77, Buffer.from("x"), undefined), "invalid_request"],
    [client.type(first.attachment, Buffer.alloc(262_145), undefined), "payload_too_large"],
    [client.type(first.attachment, Buffer.from("x"), "i".repeat(201)), "invalid_request"],
  ];
  for (const [call, code] of refused) await expect(call).rejects.toMatchObject({ code });
  expect(child.written.toString()).toBe("ab");
});

test("a few bytes come with the news of them, and only when nothing before them is untold", async () => {
  await using served = await serve();
  const client = await served.client();
  const { session, child } = await served.host.open();
  using watch = await client.watch(session.id);
  child.print("echo");
  await waitFor("the news", () => watch.tail === 4);
  expect(watch.recent).toMatchObject({ offset: 0, channel: 1, bytes: Buffer.from("echo") });
  child.print("x".repeat(5000));
  child.print("y");
  await waitFor("all of it", () => watch.tail === 5005);
  // The last byte came while more was still to be told: the files have it.
  expect(watch.recent).toMatchObject({ offset: 0 });
});

test("bytes that are no frame end that connection alone", async () => {
  await using served = await serve();
  const client = await served.client();
  const rude = connect(served.path);
  rude.write(Buffer.alloc(64, 0xff));
  rude.resume();
  await once(rude, "close");
  expect((await client.call("session.list", {})).sessions).toEqual([]);
});

test("who sends bytes that are no frame is told, and gone even when it would send more", async () => {
  await using served = await serve();
  const rude = connect({ path: served.path, allowHalfOpen: true });
  const reader = new FrameReader();
  const heard: unknown[] = [];
  rude.on("data", (chunk) => heard.push(...reader.push(chunk)));
  rude.write(Buffer.alloc(64, 0xff));
  await once(rude, "end");
  expect(heard.at(-1)).toMatchObject({ value: { error: { code: "invalid_request" } } });
  await waitFor("the connection to go", () => served.server.connections === 0);
  rude.destroy();
});

test("a client that asks and never reads is cut off alone", async () => {
  await using served = await serve();
  await Promise.all(Array.from({ length: 20 }, () => served.host.open()));
  const frozen = connect(served.path);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  frozen.on("error", () => undefined);
  frozen.on("close", () => resolve());
  const request = encodeJson({ id: 1, method: "session.list", params: {} });
  const isCut = { now: false };
  void closed.then(() => {
    isCut.now = true;
  });
  for (let at = 0; at < 20_000 && !isCut.now; at += 1) {
    frozen.write(request);
    if (at % 100 === 0) await setImmediate();
  }
  await closed;
  const client = await served.client();
  expect((await client.call("session.list", {})).sessions.length).toBe(20);
});

test("what moves while a notice is under way is told by the next one", async () => {
  await using served = await serve();
  const { session, child } = await served.host.open();
  const socket = connect(served.path);
  const reader = new FrameReader();
  const tails: number[] = [];
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk) => {
    for (const frame of reader.push(chunk)) {
      if (frame.kind === "json" && "result" in Object(frame.value)) {
        for (let at = 0; at < 1000; at += 1) child.print("x");
      }
      if (frame.kind !== "tail") continue;
      tails.push(frame.notice.tail);
      if (frame.notice.tail === 1000) resolve();
    }
  });
  socket.write(encodeJson({ id: 1, method: "session.watch", params: { session_id: session.id } }));
  await caughtUp;
  socket.destroy();
  expect(tails).toEqual([1, 1000]);
});

test("nothing of a client that has gone stays behind", async () => {
  await using served = await serve();
  const { session } = await served.host.open();
  const before = [session.tails.size, session.changes.size, served.host.sessions.changes.size];
  const client = await connectHost(served.path);
  await client.watch(session.id);
  await client.watchAll(() => undefined);
  expect(session.tails.size).toBe(1);
  client[Symbol.dispose]();
  await client.closed;
  await waitFor("the listeners to go", () => session.tails.size === 0);
  expect([session.tails.size, session.changes.size, served.host.sessions.changes.size]).toEqual(
    before,
  );
});

test("nobody there is host_unavailable with the reason", async () => {
  await using served = await serve();
  await expect(connectHost(join(served.host.folder, "none"))).rejects.toMatchObject({
    code: "host_unavailable",
    details: { errno: "ENOENT" },
  });
});

test("calls that wait when the host goes are answered", async () => {
  await using served = await serve();
  const client = await served.client();
  const { session, child } = await served.host.open();
  const release = child.holdEnd();
  const call = client.call("session.close", { session_id: session.id });
  client[Symbol.dispose]();
  await expect(call).rejects.toMatchObject({ code: "host_unavailable" });
  release();
});

test("who watches an agent follows it into its next life, over the same watch", async () => {
  await using served = await serve();
  const client = await served.client();
  expect(client.hello.features).toContain("lives");
  const { session, child } = await served.host.open({ kind: "agent", argv: ["agent"] });
  using watch = await client.watch(session.id);
  child.exit();
  child.finish();
  await watch.until(({ session: { state } }) => state.kind === "exited");
  const env = { PATH: "/bin" };
  const revived = await client.call("session.revive", {
    session_id: session.id,
    argv: ["again"],
    env,
  });
  expect(revived).toMatchObject({ session_id: session.id, life: 2, state: { kind: "running" } });
  await watch.until(({ session: { state } }) => state.kind === "running");
  expect(watch.session).toMatchObject({ life: 2, exited_at: null });
  const before = watch.eventsTail;
  served.host.spawner.last.print('{"type":"turn.started"}\n');
  await watch.until(({ eventsTail }) => eventsTail > before);
  expect(watch.eventsTail).toBe(session.eventsTail);
  for (const params of [
    { session_id: session.id, argv: [], env },
    { session_id: "nobody", argv: ["a"], env },
  ])
    await expect(client.call("session.revive", params)).rejects.toMatchObject({
      code: "invalid_request",
    });
});

test("who watches a session hears that it was removed, behind its end, and no other watch does", async () => {
  await using served = await serve();
  const [client, lister] = await Promise.all([served.client(), served.client()]);
  const { session, child } = await served.host.open();
  const { session: other } = await served.host.open();
  const heard: string[] = [];
  await lister.watchAll((sessionId, changed) => {
    if (changed === null) heard.push(sessionId);
  });
  using watch = await client.watch(session.id);
  using listed = await lister.watch(session.id);
  using stays = await client.watch(other.id);
  child.print("last");
  await client.call("session.close", { session_id: session.id, purge: true });
  await Promise.all([watch, listed].map((each) => each.until(({ isClosed }) => isClosed)));
  expect(watch).toMatchObject({ isClosed: true, tail: 4 });
  expect(watch.session.state.kind).toBe("exited");
  expect(stays.isClosed).toBe(false);
  expect(heard).toEqual([session.id]);
});

test.skipIf(process.platform !== "linux")(
  "a socket that was handed over is served also when somebody has removed its name",
  async () => {
    await using served = await serve();
    const listener = openLibc().duplicate(served.server.handOver().listener);
    rmSync(served.path);
    await using next = await openHostServer(served.path, {
      ...describeDeps(served.host),
      inherited: { server: { listener, connections: [] }, outcome: new Fault("busy", "not asked") },
    });
    expect(next.handOver()).toEqual({ listener, connections: [] });
  },
);
