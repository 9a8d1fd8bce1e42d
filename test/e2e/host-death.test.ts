import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/socket/start-host.ts";
import { callerEnvironment } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { binPath } from "#test/harness/packaged.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** For the tests that end no host; on SIGUSR2 it throws an unexpected error. */
const BOMB = "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('boom'); }))";
const leaseHost = leaseForFile(() =>
  openTestHost({ nodeArgs: ["--import", `data:text/javascript,${encodeURIComponent(BOMB)}`] }),
);

test("after kill -9 of the host and a restart its sessions are lost, their logs whole, their processes gone, the old socket no obstacle", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  const marker = `6${process.pid}1.25`;
  const tree = `setsid sleep ${marker} & env -i setsid sleep ${marker} & (setsid sh -c 'sleep ${marker} &' &) ; echo ready; exec sleep ${marker}`;
  let sessionId = "";
  {
    await using host = await openTestHost({ dataDir });
    const session = await host.create({ kind: "terminal", command: tree });
    sessionId = session.session_id;
    await waitFor("the tree to be complete", () => findProcesses(`sleep ${marker}`).length >= 4);
    await waitFor(
      "the first output",
      async () => (await host.client.call("session.get", { session_id: sessionId })).tail > 0,
    );
    await host.kill("SIGKILL");
    expect(findProcesses(`sleep ${marker}`).length).toBeGreaterThan(0);
    expect(existsSync(locateDataDir(dataDir).socket)).toBe(true);
  }
  const host = await openTestHost({ dataDir });
  const lost = await host.client.call("session.get", { session_id: sessionId });
  expect(lost.state).toEqual({ kind: "lost", reason: "host_lost" });
  expect((await host.output(sessionId)).text).toBe("ready\r\n");
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  await expect(
    host.client.call("session.input", { session_id: sessionId, data_b64: "eA==" }),
  ).rejects.toMatchObject({ code: "already_exited" });
  // The next one is started as a client does it.
  await host.kill("SIGKILL");
  await host[Symbol.asyncDispose]();
  expect(existsSync(locateDataDir(dataDir).socket)).toBe(true);
  const client = await openHost({
    dataDir,
    command: [process.execPath, binPath],
    env: callerEnvironment(),
  });
  expect((await client.call("host.health", {})).live).toBe(0);
  await client.call("host.shutdown", {});
  await waitFor("the host to end", () => !isAlive(client.hello.pid));
});

test("two hosts at once: the second says so and the first goes on", async () => {
  await using host = await leaseHost();
  const second = spawnSync(process.execPath, [binPath, "host", "--data-dir", host.dataDir], {
    encoding: "utf8",
  });
  expect(second.status).toBe(5);
  expect(JSON.parse(second.stdout)).toMatchObject({ error: { code: "conflict" } });
  expect((await host.client.call("host.health", {})).pid).toBe(host.pid);
});

test("starters at once get one host, in a session of its own, without the starter's marks", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  const marks = { REINS_SESSION_ID: "ses_0000000000000000", SECRET: "s" };
  // Its environment is looked at, which is guarded from an ordinary user otherwise.
  const env = { ...callerEnvironment(), ...marks, REINS_DUMPABLE: "1" };
  const options = { dataDir, command: [process.execPath, binPath], env };
  const clients = await Promise.all(
    Array.from({ length: repeats({ few: 4, full: 8 }) }, () => openHost(options)),
  );
  const pids = new Set(clients.map((client) => client.hello.pid));
  expect(pids.size).toBe(1);
  const [pid = 0] = pids;
  const environ = readEnvironment(pid);
  expect(environ).not.toContain("REINS_SESSION_ID");
  expect(environ).not.toContain("SECRET");
  const [, sid, tty] =
    /^\d+ \(.*\) \S \d+ \d+ (\d+) (-?\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
  expect(Number(sid)).not.toBe(
    Number(/^\d+ \(.*\) \S \d+ \d+ (\d+)/.exec(readFileSync("/proc/self/stat", "latin1"))?.[1]),
  );
  expect(tty).toBe("0");
  await clients[0]?.call("host.shutdown", {});
  await waitFor("the host to end", () => !isAlive(pid));
});

/** A host cannot be looked into: only root reads its environment. */
function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch (error) {
    expect([process.getuid?.() === 0, error]).toEqual([
      false,
      expect.objectContaining({ code: "EACCES" }),
    ]);
    return "";
  }
}

test("a data directory that cannot be used is a fault with a sentence, from the starter too", async () => {
  using temp = openTempDir();
  const file = join(temp.path, "file");
  writeFileSync(file, "");
  const start = (dataDir: string) =>
    openHost({ dataDir, command: [process.execPath, binPath], env: callerEnvironment() });
  await expect(start(file)).rejects.toMatchObject({ code: "host_unavailable" });
  const newer = openTempDir();
  writeFileSync(join(newer.path, "format"), "7\n");
  await expect(start(newer.path)).rejects.toMatchObject({ code: "unsupported" });
  newer[Symbol.dispose]();
});

test("SIGTERM ends every session within its grace and leaves no descendant", async () => {
  const marker = `7${process.pid}3.5`;
  await using host = await openTestHost();
  for (let at = 0; at < 10; at += 1) {
    await host.create({
      kind: at % 2 === 0 ? "terminal" : "command",
      command: `trap '' HUP; sleep ${marker} & sleep ${marker}`,
    });
  }
  await waitFor("all children", () => findProcesses(`sleep ${marker}`).length >= 20);
  await host.kill("SIGTERM");
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  expect(existsSync(locateDataDir(host.dataDir).socket)).toBe(false);
});

test("a host whose data directory is removed ends its sessions, says why, and leaves its successor alone", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  const marker = `8${process.pid}4.5`;
  await using host = await openTestHost({ dataDir });
  const { session_id } = await host.create({ kind: "terminal", command: `sleep ${marker}` });
  using watch = await host.client.watch(session_id);
  rmSync(dataDir, { recursive: true });
  await using next = await openTestHost({ dataDir });
  await watch.until(({ session }) => session.state.kind === "exited");
  expect(watch.session.state).toMatchObject({
    reason: "host_shutdown",
    detail: "the data directory was removed, so its host has ended",
  });
  await host.client.closed;
  await waitFor("the host to end", () => !isAlive(host.pid));
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  expect(existsSync(locateDataDir(dataDir).socket)).toBe(true);
  expect((await next.client.call("host.health", {})).pid).toBe(next.pid);
});

test("a data directory that was removed is not made again, neither by the host that ran in it nor by a gateway", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  await using host = await openTestHost({ dataDir });
  await using gateway = await openTestGateway({ host, env: { ...process.env, HOME: temp.path } });
  const request = { command: "echo one; cat", stdin: true } as const;
  const { session_id } = await host.create(request);
  using watch = await host.client.watch(session_id);
  await watch.until(({ tail }) => tail > 0);
  rmSync(dataDir, { recursive: true });
  await host.client.closed;
  await waitFor("the host to end", () => !isAlive(host.pid));
  const { status, body } = await gateway.call("session.get", { session_id });
  expect([status, body.error?.code]).toEqual([503, "host_unavailable"]);
  expect(existsSync(dataDir)).toBe(false);
});

test("an error that nobody expected is contained and shows in health", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({ command: "cat", stdin: true });
  process.kill(host.pid, "SIGUSR2");
  await waitFor(
    "the error to show",
    async () => (await host.client.call("host.health", {})).errors === 1,
  );
  expect((await host.client.call("host.health", {})).last_error).toContain("boom");
  await host.client.call("session.input", {
    session_id,
    data_b64: Buffer.from("alive").toString("base64"),
    eof: true,
  });
  expect((await host.output(session_id)).text).toBe("alive");
});

test("HUP and INT of the terminal that started it do not reach the host", async () => {
  await using host = await leaseHost();
  process.kill(host.pid, "SIGHUP");
  process.kill(host.pid, "SIGINT");
  expect((await host.client.call("host.health", {})).pid).toBe(host.pid);
});
