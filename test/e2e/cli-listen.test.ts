import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { findProcess, isAlive as isSame } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import type { RunRecord } from "#registry/run-record.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openDoor } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";
import { scripted } from "#test/harness/runtimes.ts";

const { lease } = keepReins();

const WAIT = { timeout: 30_000 };
const LISTEN = ["--listen", "127.0.0.1:0"];
const STEPS = [{ text: "Said.", repeat: true }];

function recordsOf({ home }: Reins): RunRecord[] {
  return createRegistry(home, { isAlive: isSame }).list();
}

function filesOf({ home }: Reins): string[] {
  const runs = join(home, "runs");
  return existsSync(runs) ? readdirSync(runs) : [];
}

async function recordIn(reins: Reins): Promise<RunRecord> {
  return await waitFor("the run has a record", () => recordsOf(reins)[0], WAIT);
}

async function expectGone(reins: Reins, { server }: RunRecord): Promise<void> {
  await waitFor("the listener ends", () => !isAlive(server.pid), WAIT);
  expect(filesOf(reins)).toEqual([]);
}

/** Connections to the host's socket, also those that it has not taken yet. */
function countConnections({ home }: Reins): number {
  const { socket } = locateDataDir(home);
  const lines = readFileSync("/proc/net/unix", "latin1").split("\n");
  return lines.filter((line) => line.endsWith(` ${socket}`)).length;
}

test("a turn of a run is asked for at the run's own address, and its hooks hear of it there", async () => {
  await using reins = await lease();
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS));
  const path = join(reins.path, "run.sock");
  const id = await reins.detach(["--listen", path, "team.yaml", "Hello."]);
  succeed(await reins.run(["wait", "--for", "idle", id]));
  await expectTurnAt(reins, await recordIn(reins));
  expect(await reins.run(["close", `unix:${path}`])).toMatchObject({ code: 0 });
});

/** Also for the agent that is served on a port. */
async function expectTurnAt(reins: Reins, { session_id, address }: RunRecord): Promise<void> {
  const there = ["--session", session_id, "--remote", address ?? ""];
  const said = await reins.run(["run", ...there, "--on-event", "turn.ended=cat >told", "Go on."]);
  expect(said, address ?? "").toMatchObject({ code: 0, stdout: "Said.\n" });
  const told: unknown = JSON.parse(readFileSync(join(reins.path, "told"), "utf8"));
  expect(told).toMatchObject({ type: "turn.ended", session_id });
}

test("serve --only serves a session that is there, until it is told to stop", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sleep", "1000"]);
  const serving = reins.start(["serve", "--only", id, ...LISTEN]);
  await serving.says(JSON.stringify({ serving: id }));
  expect(recordsOf(reins)).toMatchObject([{ session_id: id }]);
  serving.child.kill("SIGTERM");
  expect(await serving.ended).toMatchObject({ code: 0 });
  expect(filesOf(reins)).toEqual([]);
  const unknown = await reins.run(["serve", "--only", "ses_0000000000000000", ...LISTEN]);
  expect(unknown.code).toBe(3);
  expect(unknown.stdout).toContain("session_not_found");
  expect(await reins.run(["serve", "--only", id])).toMatchObject({ code: 2 });
});

test("a run is found by its pid; a gateway with several runs is not", async () => {
  await using reins = await lease();
  const first = await reins.detach(["--", "sleep", "1000"]);
  await using gateway = await openGatewayProcess({ dataDir: reins.home });
  const remote = gateway.door.url;
  const only = await reins.run(["screen", "--to", `${remote}/`]);
  expect(only.code).not.toBe(9);
  const second = await reins.detach(["--", "sleep", "1000"]);
  const several = await reins.run(["screen", "--to", remote]);
  expect(several.code).toBe(9);
  expect(several.stderr).toContain(first);
  expect(several.stderr).toContain(second);
  const closing = await reins.run(["close", "--remote", remote, remote]);
  expect(closing).toMatchObject({ code: 9, stderr: several.stderr });
  const { pid } = await reins.session(first);
  expect(succeed(await reins.run(["close", ` ${pid} `]))).toBe(`${first} SIGHUP\n`);
  expect(await reins.run(["close", String(pid)])).toMatchObject({ code: 8 });
  await gateway.kill("SIGKILL");
  const gone = await reins.run(["screen", "--to", remote]);
  expect(gone.code).toBe(8);
  expect(gone.stderr).toContain(`nothing answers at ${remote}`);
  const token = readFileSync(join(reins.home, "token"), "utf8").trim();
  expect(gone.stderr).not.toContain(token);
});

test("--session -1 continues the newest agent session", async () => {
  await using reins = await lease();
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS));
  const idOf = (text: string) => /session (ses_\w{16});/.exec(text)?.[1];
  const first = await reins.run(["run", "team.yaml", "--exec", "one"]);
  const second = await reins.run(["run", "team.yaml", "--exec", "two"]);
  // Newer, and nothing to go on with.
  await reins.detach(["--", "sleep", "1000"]);
  for (const [word, before] of [
    ["-1", second],
    ["-2", first],
  ] as const) {
    const again = await reins.run(["run", "--exec", "--session", word, "more"]);
    expect(again.code).toBe(0);
    expect(idOf(again.stderr)).toBe(idOf(before.stderr));
  }
  for (const [word, code] of [
    ["-0", 2],
    ["-99", 8],
    ["abc", 8],
  ] as const)
    expect(await reins.run(["run", "--exec", "--session", word, "more"])).toMatchObject({ code });
});

describe("reins run --listen", () => {
  test("serves the run alone until it ends, and cleans up", async () => {
    await using reins = await lease();
    const other = await reins.detach(["--", "sleep", "1000"]);
    const started = await reins.run(["run", "-d", ...LISTEN, "--", "sleep", "1000"]);
    const id = succeed(started).trim();
    const record = await recordIn(reins);
    const { address } = record;
    // Data on stdout, the address beside it.
    expect(started.stdout).toBe(`${id}\n`);
    expect(started.stderr).toBe(`reins: ${id} is served at ${address}\n`);
    expect(
      filesOf(reins).map((name) => statSync(join(reins.home, "runs", name)).mode & 0o777),
    ).toEqual([0o600]);
    const door = openDoor(address ?? "", record.token);
    const { sessions } = await door.get("session.list", {});
    expect(sessions.map(({ session_id }) => session_id)).toEqual([id]);
    expect((await door.call("session.get", { session_id: other })).status).toBe(404);
    // The administrator's token of this machine is nobody there.
    expect((await door.as(undefined).call("session.list", {})).status).toBe(401);
    const listed = JSON.parse(succeed(await reins.run(["ps", "--json"]))).sessions;
    expect(listed).toMatchObject([
      { session_id: id, address },
      { session_id: other, address: null },
    ]);
    const rows = succeed(await reins.run(["ps"])).split("\n");
    expect(rows[0]).toMatch(/ADDRESS$/);
    expect(rows[1]).toContain(address);
    expect(rows[2]).not.toContain("http");
    // By its address: with a slash, through the host or through itself.
    const there = succeed(await reins.run(["ps", "--json", "--remote", `${address}/`]));
    expect(JSON.parse(there).sessions).toMatchObject([{ session_id: id }]);
    expect(succeed(await reins.run(["close", `${address}/`]))).toBe(`${id} SIGHUP\n`);
    await expectGone(reins, record);
    expect(succeed(await reins.run(["ps"]))).not.toContain("ADDRESS");
  });

  test("goes on serving when the command that started it is killed; the record of a killed listener is ignored", async () => {
    await using reins = await lease();
    const running = reins.start(["run", ...LISTEN, "--", "sh", "-c", "echo up; exec sleep 1000"]);
    await running.says("up");
    const record = await recordIn(reins);
    // A terminal that is closed reaches neither its session nor its group.
    const [listener, command] = [record.server.pid, running.pid].map((pid) => findProcess(pid));
    expect(listener?.sid).not.toBe(command?.sid);
    expect(listener?.pgid).not.toBe(command?.pgid);
    running.child.kill("SIGKILL");
    await running.ended;
    const door = openDoor(record.address ?? "", record.token);
    const { session_id } = record;
    expect(await door.get("session.get", { session_id })).toMatchObject({
      state: { kind: "running" },
    });
    expect(recordsOf(reins)).toEqual([record]);
    process.kill(record.server.pid, "SIGKILL");
    await waitFor("it ends", () => !isAlive(record.server.pid));
    expect(filesOf(reins)).toHaveLength(1);
    // The run lives, by the host's word; its address does not.
    const listed = JSON.parse(succeed(await reins.run(["ps", "--json"]))).sessions;
    expect(listed).toMatchObject([{ session_id, address: null }]);
    expect(filesOf(reins)).toEqual([]);
    const missed = await reins.run(["close", `${record.address}`]);
    expect(missed).toMatchObject({ code: 8, stdout: "" });
    expect(missed.stderr).toContain("reins run -- COMMAND");
    expect(succeed(await reins.run(["close", session_id]))).toBe(`${session_id} SIGHUP\n`);
  });

  test("starts nothing when nothing can listen there", async () => {
    await using reins = await lease();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" ? address?.port : 0;
    const marked = ["--", "sh", "-c", "echo started >started"];
    const few: readonly [number, RegExp, string[]][] = [
      [5, /something else listens there/, ["--listen", `127.0.0.1:${port}`]],
      [2, /--allow-insecure/, ["--listen", "0.0.0.0:0"]],
    ];
    const full: typeof few = [
      ...few,
      [2, /neither like/, ["--listen", "nonsense"]],
      [2, /come together/, [...LISTEN, "--tls-cert", "a.pem"]],
      [2, /no certificate and key/, [...LISTEN, "--tls-cert", "a.pem", "--tls-key", "b.pem"]],
      [2, /--allow-insecure is for --listen/, ["--allow-insecure"]],
    ];
    for (const [code, said, args] of rows({ few, full })) {
      const done = await reins.run(["run", ...args, ...marked]);
      expect([args, done.code, done.stdout]).toEqual([args, code, ""]);
      expect(done.stderr).toMatch(said);
    }
    await new Promise((resolve) => taken.close(resolve));
    expect(existsSync(join(reins.path, "started"))).toBe(false);
    expect(filesOf(reins)).toEqual([]);
  });

  test("goes on without an address when what should serve it has died meanwhile", async () => {
    await using reins = await lease();
    succeed(await reins.run(["ps", "-a"]));
    const host = (await reins.hostPid()) ?? 0;
    process.kill(host, "SIGSTOP");
    const before = countConnections(reins);
    const running = reins.start(["run", ...LISTEN, "--", "echo", "done"]);
    await waitFor("it asks the host", () => countConnections(reins) > before, WAIT);
    const [listener = 0] = findProcesses(`serve --only - --data-dir ${reins.home}`);
    process.kill(listener, "SIGKILL");
    process.kill(host, "SIGCONT");
    const result = await running.ended;
    expect(result).toMatchObject({ code: 0, stdout: "done\n" });
    expect(result.stderr).toMatch(/^reins: ses_\w+ goes on, but is not served: .*\n$/);
  });

  test("serves on a unix socket of this user alone, also what goes over a WebSocket", async () => {
    await using reins = await lease();
    const shell = ["env", "PS1=in$ ", "bash", "--norc", "--noprofile", "-i"];
    succeed(await reins.run(["run", "-d", "--tty", "--listen", "./run.sock", "--", ...shell]));
    const record = await recordIn(reins);
    const { session_id: id, address } = record;
    const path = join(reins.path, "run.sock");
    expect(address).toBe(`unix:${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const remote = ["--remote", `unix:${path}`];
    const there = (...args: string[]) => reins.run([...args, ...remote]);
    expect(JSON.parse(succeed(await there("ps", "--json"))).sessions).toMatchObject([
      { session_id: id },
    ]);
    const watching = reins.start(["watch", ...remote]);
    await watching.says("session.opened");
    succeed(await there("send", "echo $((6 * 7))"));
    expect(succeed(await there("wait", "--regex", "^42", "--timeout", "30s"))).toBe("42\n");
    expect(succeed(await there("screen"))).toContain("\n42\n");
    expect(succeed(await there("export"))).toContain("42");
    expect(succeed(await there("logs"))).toContain("42");
    const attached = reins.start(["attach", "--view", ...remote]);
    await attached.says("42");
    expect(await there("screen", "--to", "ses_0000000000000000")).toMatchObject({ code: 8 });
    expect(await reins.run(["watch", "--remote", "unix:./other.sock"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("REINS_TOKEN"),
    });
    const env = { REINS_TOKEN: "given" };
    expect(await reins.run(["screen", "--remote", "unix:./other.sock"], { env })).toMatchObject({
      code: 7,
    });
    expect(await reins.run(["screen", "--remote", "unix:./run.sock"])).toMatchObject({ code: 0 });
    succeed(await there("close", id));
    expect(await watching.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("session.exited"),
    });
    await expectGone(reins, record);
    expect(existsSync(path)).toBe(false);
  });

  test("serves an agent, whose name the record has, also between its lives", async () => {
    await using reins = await lease();
    writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS));
    const said = await reins.run(["run", "team.yaml", ...LISTEN, "--exec", "hello"]);
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("Said.") });
    const record = await recordIn(reins);
    expect(record).toMatchObject({ kind: "agent", agent: "root" });
    const { session_id, address } = record;
    const door = openDoor(address ?? "", record.token);
    expect(await door.get("agent.snapshot", { session_id })).toMatchObject({ agent: "root" });
    await expectTurnAt(reins, record);
    // Its worker dies: the run does not, and comes back by a message to its own address.
    process.kill(record.pid ?? 0, "SIGKILL");
    await waitFor("the record knows", () => recordsOf(reins)[0]?.pid === null, WAIT);
    await door.get("agent.send", { session_id, messages: [{ content: "again" }] });
    const next = await waitFor(
      "the next life is in the record",
      () => recordsOf(reins).find(({ pid }) => pid !== null && pid !== record.pid),
      WAIT,
    );
    expect(next).toMatchObject({ session_id, address, server: record.server });
    succeed(await reins.run(["close", session_id]));
    await expectGone(reins, record);
  });

  // The last test: it ends the host that the others share.
  test("ends by itself with a command that ends, and with the host", async () => {
    await using reins = await lease();
    const short = await reins.run(["run", ...LISTEN, "--", "sh", "-c", "echo done; exit 3"]);
    expect(short).toMatchObject({ code: 3, stdout: "done\n" });
    await waitFor("nothing is left", () => filesOf(reins).length === 0, WAIT);
    await reins.run(["run", "-d", ...LISTEN, "--", "sleep", "1000"]);
    const record = await recordIn(reins);
    succeed(await reins.run(["host", "stop"]));
    await expectGone(reins, record);
  });
});
