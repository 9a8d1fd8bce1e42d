import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OperationInput, OperationName } from "#contract/operations.ts";
import { operations } from "#contract/operations.ts";
import { isAlive } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import { type Door, openDoor } from "#test/harness/gateway.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { binPath } from "#test/harness/packaged.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { isOver, openRunListener } from "./run-listener.ts";

const leaseHost = leaseForFile(() => openTestHost());

const WAIT_MS = 30_000;
const sleep = { argv: ["sleep", "1000"] };

function optionsOf(host: Pick<TestHost, "dataDir">, listen = "127.0.0.1:0") {
  const { dataDir } = host;
  return { dataDir, listen, version: "test", command: [process.execPath, binPath], env: {} };
}

function recordsOf({ dataDir }: TestHost) {
  return createRegistry(dataDir, { isAlive }).list();
}

/** A run of its own, beside others. */
async function openServedRun() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const other = await host.create({ ...sleep, title: "other" });
  const session = await host.create({ ...sleep, title: "own" });
  const later = await host.create({ ...sleep, parent_session_id: session.session_id });
  const listener = stack.use(await openRunListener(optionsOf(host)));
  await listener.serve(session.session_id);
  const [record] = recordsOf(host);
  const door: Door = openDoor(listener.address, record?.token ?? "");
  const owned = stack.move();
  return {
    ...{ host, session, listener, door, record },
    others: [other.session_id, later.session_id],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe("a run that is served alone", () => {
  test("has no page", async () => {
    await using run = await openServedRun();
    const answer = await run.door.fetch("/");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/json"]);
  });

  test("has a record with its address and a token of its own", async () => {
    await using run = await openServedRun();
    const { session, listener, record } = run;
    expect(record).toMatchObject({
      session_id: session.session_id,
      pid: session.pid,
      kind: "command",
      started_at: session.created_at,
      work_dir: "/",
      address: listener.address,
      token: expect.stringMatching(/^reins_[\w-]{43}$/),
      server: { pid: process.pid },
    });
    const { body } = await run.door.call("caller.get", {});
    expect(body).toMatchObject({ role: "operator" });
    for (const token of [undefined, `reins_${"x".repeat(43)}`])
      expect((await run.door.as(token).call("session.list", {})).status).toBe(401);
  });

  test("is the only session that there is at its address", async () => {
    await using run = await openServedRun();
    const { door, session, others } = run;
    const { session_id } = session;
    const ids = async (input: OperationInput<"session.list">) =>
      (await door.get("session.list", input)).sessions.map((found) => found.session_id);
    for (const input of [{}, { limit: 1 }, { state: "live" }, { q: "OWN" }] as const)
      expect(await ids(input)).toEqual([session_id]);
    for (const input of [{ q: "other" }, { state: "exited" }, { kind: "agent" }] as const)
      expect(await ids(input)).toEqual([]);
    expect(await ids({ parent_session_id: session_id })).toEqual([]);
    expect(await door.get("session.get", { session_id })).toMatchObject({ title: "own" });
    for (const foreign of others) await expectHidden(door, foreign);
    const health = await door.get("server.health", {});
    expect(health.host).toMatchObject({ sessions: 1, live: 1 });
  });

  test("lets nothing else be started, made or listed at its address", async () => {
    await using run = await openServedRun();
    const { door, host } = run;
    const before = (await host.client.call("session.list", {})).sessions.length;
    const asked: readonly (readonly [OperationName, object])[] = [
      ["session.create", { kind: "command", argv: ["true"] }],
      ["process.execute", { command: "true", workdir: "/" }],
      ["shell.create", {}],
      ["shell.list", {}],
      ["process.list", {}],
      ["task.list", {}],
      ["task.create", { work_dir: "/" }],
      ["workspace.list", {}],
      ["team.list", {}],
      ["ticket.create", {}],
    ];
    for (const [name, input] of asked) {
      const { status, body } = await door.call(name, input as OperationInput<typeof name>);
      expect([name, status, body.error?.code]).toEqual([name, 501, "unsupported"]);
    }
    for (const name of ["token.list", "audit.list"] as const)
      expect([name, (await door.call(name, {})).status]).toEqual([name, 403]);
    expect((await host.client.call("session.list", {})).sessions).toHaveLength(before);
    expect(existsSync(join(host.dataDir, "shells"))).toBe(false);
  });

  test("can be written to, watched and closed there, and the end is heard of", async () => {
    await using stack = new AsyncDisposableStack();
    const host = stack.use(await leaseHost());
    const { session_id } = await host.create({ argv: ["cat"], stdin: true });
    const listener = stack.use(await openRunListener(optionsOf(host)));
    await listener.serve(session_id);
    const door = openDoor(listener.address, recordsOf(host)[0]?.token ?? "");
    await door.get("session.input", { session_id, data: "hello\n" });
    await door.get("session.wait", { session_id, for: "text", text: "hello", timeout_ms: WAIT_MS });
    const ended = door.get("session.wait", { session_id, for: "exit", timeout_ms: WAIT_MS });
    await door.get("session.close", { session_id });
    expect(await ended).toMatchObject({ state: { kind: "exited" } });
    await listener.ended;
    expect(recordsOf(host)).toEqual([]);
  });
});

/** By every way that names a session. */
async function expectHidden(door: Door, session_id: string): Promise<void> {
  for (const [name, spec] of Object.entries(operations)) {
    if (!/\/sessions\/:session_id/.test(spec.http) || spec.answers === "socket") continue;
    const [method = "", path = ""] = spec.http.split(" ");
    const response = await door.fetch(path.replace(":session_id", session_id), {
      method,
      ...(method === "GET" || method === "DELETE"
        ? {}
        : { body: "{}", headers: { "Content-Type": "application/json" } }),
    });
    const text = await response.text();
    // Or its input is refused before anybody looks.
    expect([name, [400, 404].includes(response.status)]).toEqual([name, true]);
    expect([name, text]).not.toEqual([name, expect.stringContaining("sleep")]);
  }
  expect((await door.call("session.get", { session_id })).status).toBe(404);
  expect((await door.call("session.close", { session_id })).status).toBe(404);
  await expect(door.attach(session_id)).rejects.toThrow("404");
}

test("nobody sees anything before the session is known", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create(sleep);
  await using listener = await openRunListener(optionsOf(host));
  expect(recordsOf(host)).toEqual([]);
  const door = openDoor(listener.address, `reins_${"x".repeat(43)}`);
  expect((await door.call("session.get", { session_id })).status).toBe(401);
  await expect(listener.serve("ses_0000000000000000")).rejects.toMatchObject({
    code: "session_not_found",
  });
  expect(recordsOf(host)).toEqual([]);
});

test("the end of the host is the end of the listener", async () => {
  await using host = await openTestHost();
  const { session_id, pid } = await host.create(sleep);
  await using listener = await openRunListener(optionsOf(host));
  await listener.serve(session_id);
  expect(recordsOf(host)).toHaveLength(1);
  await host.kill("SIGKILL");
  // The next host would end it, and there is none.
  process.kill(pid ?? 0, "SIGKILL");
  await listener.ended;
  expect(recordsOf(host)).toEqual([]);
});

describe("a unix socket", () => {
  test("is served like an address, private, and gone at the end", async () => {
    await using host = await leaseHost();
    const { session_id } = await host.create(sleep);
    const path = join(host.dataDir, "run.sock");
    {
      await using listener = await openRunListener(optionsOf(host, path));
      await listener.serve(session_id);
      expect(listener.address).toBe(`unix:${path}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const token = recordsOf(host)[0]?.token ?? "";
      expect(await askSocket(path, { Authorization: `Bearer ${token}` })).toBe(200);
      expect(await askSocket(path, {})).toBe(401);
      expect(await askSocket(path, { Host: "evil.example" })).toBe(403);
    }
    expect(existsSync(path)).toBe(false);
  });

  test("that is stale is replaced; one that is answered, and a file, are not", async () => {
    using dir = openTempDir();
    const path = join(dir.path, "run.sock");
    leaveSocket(path);
    expect(statSync(path).isSocket()).toBe(true);
    const options = optionsOf({ dataDir: join(dir.path, "home") }, `unix:${path}`);
    await using _first = await openRunListener(options);
    await expect(openRunListener(options)).rejects.toMatchObject({ code: "conflict" });
    expect(await askSocket(path, {})).toBe(401);
    const file = join(dir.path, "file");
    writeFileSync(file, "mine");
    await expect(openRunListener({ ...options, listen: file })).rejects.toMatchObject({
      code: "conflict",
    });
    expect(readdirSync(dir.path)).toContain("file");
  });
});

test.each([
  ["nowhere", /neither like 127\.0\.0\.1:7346 nor/],
  ["127.0.0.1:99999", /neither/],
  ["", /neither/],
  ["unix:", /names no file/],
  ["/tmp/", /names no file/],
  [`/tmp/${"x".repeat(100)}`, /at most 103 bytes/],
  ["0.0.0.0:0", /--allow-insecure/],
])("nothing listens at %j, and it is said why", async (listen, why) => {
  using dir = openTempDir();
  const options = optionsOf({ dataDir: dir.path }, listen);
  await expect(openRunListener(options)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(why),
  });
});

test("beyond this machine is listened only when that was said", async () => {
  using dir = openTempDir();
  const options = optionsOf({ dataDir: dir.path }, "0.0.0.0:0");
  await using listener = await openRunListener({ ...options, allowInsecure: true });
  expect(listener.address).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
});

test("with a certificate it is served by TLS, beyond this machine too", async () => {
  using dir = openTempDir();
  const [key, cert] = [join(dir.path, "key.pem"), join(dir.path, "cert.pem")];
  // A key of this kind is made at once.
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const made = ["req", "-x509", ...curve, "-days", "1", "-nodes"];
  const files = ["-keyout", key, "-out", cert, "-subj", "/CN=localhost"];
  execFileSync("openssl", [...made, ...files], { stdio: "ignore" });
  const options = optionsOf({ dataDir: join(dir.path, "home") }, "0.0.0.0:0");
  await using listener = await openRunListener({ ...options, tls: () => ({ cert, key }) });
  expect(listener.address).toMatch(/^https:\/\/0\.0\.0\.0:\d+$/);
  const path = join(dir.path, "run.sock");
  const onSocket = openRunListener({ ...options, listen: path, tls: () => ({ cert, key }) });
  await expect(onSocket).rejects.toThrow("no use for TLS");
});

test("a run has ended for good when nothing of it comes back", () => {
  const exited = { kind: "exited", exit_code: 0, signal: null, tail: 0 } as const;
  const ended = (kind: "command" | "agent", state: object) =>
    // Only what is looked at.
    isOver({ kind, state } as Parameters<typeof isOver>[0]);
  expect(ended("command", { kind: "running" })).toBe(false);
  expect(ended("command", { ...exited, reason: "exited", final: false })).toBe(false);
  expect(ended("command", { ...exited, reason: "exited", final: true })).toBe(true);
  expect(ended("command", { kind: "lost", reason: "host_lost" })).toBe(true);
  expect(ended("agent", { ...exited, reason: "exited", final: true })).toBe(false);
  expect(ended("agent", { ...exited, reason: "user_requested", final: true })).toBe(true);
});

function askSocket(socketPath: string, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request({ socketPath, path: "/v1/sessions", headers }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  asked.on("error", reject);
  asked.end();
  return promise;
}

/** As a process that was killed leaves it: the file is there, nobody listens. */
function leaveSocket(path: string): void {
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", script]);
}
