import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** For the tests that need no gateway of their own. */
const leaseGateway = leaseForFile(() => openTestGateway());

/** Clients and children that do not do their part. */

const SLOW_MS = 300;

/** A client that says hello and never reads; what it holds is a socket of the kernel's and nothing more. */
async function openFrozen(
  gateway: TestGateway,
  path: string,
): Promise<Disposable & { readonly socket: Socket }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(
    [
      `GET ${path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${gateway.token}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "",
      "",
    ].join("\r\n"),
  );
  await new Promise<void>((resolve) => socket.once("readable", resolve));
  return { socket, [Symbol.dispose]: () => socket.destroy() };
}

const flood = (gateway: TestGateway) =>
  gateway.get("session.create", { kind: "terminal", argv: ["/bin/sh", "-c", "yes 0123456789"] });

test("a client that never reads is cut alone with 1013; the others and the child go on", async () => {
  await using gateway = await openTestGateway({
    patience: { slowMs: SLOW_MS, deadPeerMs: 60_000 },
  });
  const { session_id } = await flood(gateway);
  await using reader = await gateway.attach(session_id, "?since=tail", {
    protocols: ["reins.bin.v1"],
  });
  using frozen = await openFrozen(gateway, `/v1/sessions/${session_id}/ws?since=0`);
  await waitFor("it is cut", async () => {
    const metrics = await (await gateway.fetch("/metrics")).text();
    return metrics.includes("reins_slow_viewers_total 1");
  });
  const seen = reader.binary.length;
  await waitFor("the other goes on", () => reader.binary.length > seen + 10);
  expect(reader.closed).toBeUndefined();
  // It wakes up: everything that was on its way, and then why it was cut.
  let received = Buffer.alloc(0);
  frozen.socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received.subarray(-4096), chunk]);
  });
  await waitFor("the close frame", () => received.includes("too slow"));
  const at = received.indexOf("too slow");
  expect(received.readUInt16BE(at - 2)).toBe(1013);
});

test("a takeover works at once against a holder who is frozen in the middle of a replay", async () => {
  await using gateway = await leaseGateway();
  const { session_id } = await flood(gateway);
  await waitFor(
    "some output",
    async () => (await gateway.get("session.get", { session_id })).tail > 8_000_000,
  );
  using _frozen = await openFrozen(
    gateway,
    `/v1/sessions/${session_id}/ws?since=0&role=controller`,
  );
  await waitFor(
    "it holds control",
    async () => (await gateway.get("session.get", { session_id })).controller !== null,
  );
  await using second = await gateway.attach(session_id, "?role=controller&takeover=1&since=tail", {
    protocols: ["reins.bin.v1"],
  });
  expect(await second.frame("connected")).toMatchObject({ role: "controller", generation: 2 });
  expect(await second.ask({ type: "signal", signal: "SIGINT", id: "1" })).toMatchObject({
    type: "ack",
  });
  await second.frame("exit");
});

test("a holder who shows no sign of life is dropped, and control is free", async () => {
  await using gateway = await openTestGateway({ patience: { pingMs: 100, deadPeerMs: 300 } });
  const { session_id } = await gateway.get("session.create", {
    kind: "terminal",
    argv: ["/bin/cat"],
  });
  using frozen = await openFrozen(gateway, `/v1/sessions/${session_id}/ws?role=controller`);
  await waitFor("it is dropped", async () => {
    const { controller, viewers } = await gateway.get("session.get", { session_id });
    return controller === null && viewers === 0;
  });
  frozen.socket.resume();
  await waitFor("its socket ends", () => frozen.socket.closed);
});

test("a child that reads no input: a limit, and everything else is answered at once", async () => {
  await using gateway = await leaseGateway();
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    argv: ["sleep", "1000"],
    stdin: true,
  });
  await using socket = await gateway.attach(session_id, "?role=controller");
  const data = "x".repeat(200_000);
  for (let sent = 0; sent < 30; sent += 1) socket.send({ type: "stdin", data, id: String(sent) });
  expect(await socket.frame("error")).toMatchObject({ code: "queue_full" });
  expect(await socket.ask({ type: "ping", id: "ping" })).toMatchObject({ type: "pong" });
  await using other = await gateway.attach(session_id, "?role=controller&takeover=1");
  expect(await other.frame("connected")).toMatchObject({ role: "controller" });
  expect((await socket.ended()).code).toBe(4001);
  expect(await other.ask({ type: "signal", signal: "SIGTERM", id: "1" })).toMatchObject({
    type: "ack",
  });
  expect(await other.frame("exit")).toMatchObject({ signal: "SIGTERM", exit_code: 143 });
});

test("a lifetime ends the whole tree, and the stream says why", async () => {
  await using gateway = await leaseGateway();
  const mark = `lifetime-${process.pid}`;
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: `bash -c 'exec -a ${mark} sleep 1000' & setsid bash -c 'exec -a ${mark} sleep 1000' & bash -c 'exec -a ${mark} sleep 1000'`,
    lifetime_ms: 300,
    grace_ms: 50,
  });
  await using socket = await gateway.attach(session_id);
  expect(await socket.frame("exit")).toMatchObject({ reason: "lifetime_timeout" });
  await waitFor("no survivor", () => findProcesses(mark).length === 0);
});

test("a grandchild that keeps stdout does not delay the exit, and is not hurt", async () => {
  await using gateway = await leaseGateway();
  using dir = openTempDir();
  const gate = join(dir.path, "gate");
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: `(until [ -e ${gate} ]; do sleep 0.05; done; echo late) & echo hi`,
  });
  await using socket = await gateway.attach(session_id, "?since=0");
  expect(await socket.frame("exit")).toMatchObject({ exit_code: 0, tail: 3 });
  await socket.ended();
  expect(socket.output().toString()).toBe("hi\n");
  writeFileSync(gate, "");
  await waitFor("what it prints later is kept", async () => {
    const response = await gateway.fetch(`/v1/sessions/${session_id}/output?since=3&wait_ms=5000`);
    return (await response.text()) === "late\n";
  });
});

test("a signal is told as the signal and 128+n; what cannot start is refused with the reason", async () => {
  await using gateway = await leaseGateway();
  const killed = await gateway.get("session.create", { kind: "command", command: "kill -9 $$" });
  const { state } = await gateway.get("session.wait", {
    session_id: killed.session_id,
    for: "exit",
    timeout_ms: 10_000,
  });
  expect(state).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  for (const [request, word] of [
    [{ argv: ["/no/such/program"] }, "ENOENT"],
    [{ argv: ["/etc/passwd"] }, "EACCES"],
    [{ command: "true", work_dir: "/no/such/place" }, "/no/such/place"],
  ] satisfies [object, string][]) {
    const { status, body } = await gateway.call("session.create", { kind: "command", ...request });
    expect([status, body.error?.code]).toEqual([422, "spawn_failed"]);
    expect(JSON.stringify(body.error)).toContain(word);
  }
});
