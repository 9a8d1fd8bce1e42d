import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTask, openTerminals } from "#test/harness/gateway/terminals.ts";
import { type Door, openTestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { openReins } from "#test/harness/reins.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openTempDir, type TempDir } from "#test/harness/temp-dir.ts";

/** How terminals end. */

const leaseGateway = leaseForFile(() => openTestGateway());

const patient = { timeout: 30_000 };

/** Pids of those whose parent this is and who are dead and not reaped. */
function findZombies(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const [, state, ppid] = /^\d+ \(.*\) (\S) (\d+)/s.exec(readStat(pid)) ?? [];
      return state === "Z" && Number(ppid) === parent;
    })
    .map(Number);
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // It ended while we looked.
    return "";
  }
}

type Close = (door: Door, session_id: Session["session_id"]) => Promise<unknown>;

const closes: Record<string, Close> = {
  "terminal.close": async (door, session_id) => {
    await using client = await openTerminals(door);
    await client.attach(session_id, "tail");
    client.send("terminal.close", { session_id });
    await client.next("terminal.close");
  },
  DELETE: (door, session_id) => door.get("session.close", { session_id }),
};

test.each(Object.entries(closes))(
  "%s ends what nohup, setsid, disown and ignored signals keep alive, and leaves no zombie",
  async (name, close) => {
    await using gateway = await leaseGateway();
    using task = await openTask(gateway);
    const marker = `71${process.pid}.${name === "DELETE" ? 25 : 75}`;
    const sleep = `sleep ${marker}`;
    const lines = [
      `nohup ${sleep} >/dev/null 2>&1 &`,
      `setsid ${sleep} &`,
      `${sleep} & disown`,
      `(trap '' HUP TERM INT; exec ${sleep}) &`,
      `(sleep 0 & exec ${sleep}) &`,
    ];
    const client = await openTerminals(gateway);
    const session_id = await client.open(task);
    client.type(session_id, `${lines.join("\n")}\n`);
    // One of them has a dead child that it never waits for.
    const members = await waitFor("all that it holds", () => {
      const found = findProcesses(sleep);
      const zombies = found.flatMap(findZombies);
      return found.length === lines.length && zombies.length > 0 && [...found, ...zombies];
    });
    // Control is free for whoever closes.
    await client[Symbol.asyncDispose]();
    const { pid } = await gateway.get("session.get", { session_id });
    await close(gateway, session_id);
    expect(findProcesses(sleep)).toEqual([]);
    const { state } = await gateway.get("session.get", { session_id });
    expect(state).toMatchObject({ kind: "exited", reason: "user_requested" });
    expect(state).not.toHaveProperty("survivors");
    const all = [...members, pid ?? 0];
    await waitFor("all are reaped", () => !all.some((one) => existsSync(`/proc/${one}`)));
    expect(findZombies(gateway.host.pid)).toEqual([]);
  },
);

/** A FIFO that programs wait at until the test lets so many of them pass. */
function openGate(dir: TempDir) {
  const path = join(dir.path, "gate");
  execFileSync("mkfifo", [path]);
  // For both directions, so that neither side's opening waits for the other.
  const descriptor = openSync(path, "r+");
  return {
    path,
    open: (times: number) => writeSync(descriptor, "\n".repeat(times)),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/**
 * On HUP it leaves a file, waits at the gate and ends with 7. Its child says that it is ready: a hangup between a fork
 * and the exec of `sleep` would run into the trap's handler, and the child would outlive it.
 */
const cleansUp = (dir: TempDir, gate: string) =>
  [
    `trap ': > ${dir.path}/hup.$$; read -r _ < ${gate}; exit 7' HUP`,
    "(trap - HUP; echo ready; exec sleep 1000) & while :; do wait; done",
  ].join("; ");

const countHups = ({ path }: TempDir) =>
  readdirSync(path).filter((name) => name.startsWith("hup.")).length;

async function openReady(door: Door, command: string, grace_ms: number): Promise<Session> {
  const argv = ["/bin/bash", "-c", command];
  const session = await door.get("session.create", { kind: "terminal", argv, grace_ms });
  const { session_id } = session;
  const ready = { for: "text", text: "ready", timeout_ms: 30_000 } as const;
  expect(await door.get("session.wait", { session_id, ...ready })).toMatchObject({ matched: true });
  return session;
}

test("a shell that ends at the hangup is not waited for until the grace is over", async () => {
  await using gateway = await leaseGateway();
  // Not one at its prompt: bash puts a hangup off until a key comes when it is about to wait for one.
  const command = "echo ready; sleep 1000; exit 5";
  const { session_id, pid } = await openReady(gateway, command, limits.grace_longest_ms);
  const { state } = await gateway.get("session.close", { session_id });
  expect(state).toMatchObject({ kind: "exited", signal: "SIGHUP", exit_code: 129 });
  expect(isAlive(pid ?? 0)).toBe(false);
});

test("within the grace a program cleans up after the hangup and ends by itself", async () => {
  await using gateway = await leaseGateway();
  using dir = openTempDir();
  using gate = openGate(dir);
  const command = cleansUp(dir, gate.path);
  const { session_id } = await openReady(gateway, command, limits.grace_longest_ms);
  const closing = gateway.get("session.close", { session_id });
  await waitFor("the hangup", () => countHups(dir) === 1);
  expect((await gateway.get("session.get", { session_id })).state.kind).toBe("running");
  gate.open(1);
  const { state } = await closing;
  expect(state).toMatchObject({ exit_code: 7, signal: null, reason: "user_requested" });
});

test("who does not mind the hangup is hung up first and killed when the grace is over", async () => {
  await using gateway = await leaseGateway();
  const command = "trap 'echo hung up' HUP; echo ready; while :; do read -r _ || sleep 0.05; done";
  const { session_id, pid } = await openReady(gateway, command, 2000);
  const { state } = await gateway.get("session.close", { session_id });
  expect(state).toMatchObject({ kind: "exited", signal: "SIGKILL", exit_code: 137 });
  expect(isAlive(pid ?? 0)).toBe(false);
  const output = await (await gateway.fetch(`/v1/sessions/${session_id}/output`)).text();
  expect(output).toContain("hung up");
});

const POLITE = repeats({ few: 8, full: 40 });
const STUBBORN = repeats({ few: 3, full: 10 });

test("a shutdown ends all terminals in one grace, starts nothing meanwhile and returns when all are gone", async () => {
  await using reins = await openReins();
  await using served = await openGatewayProcess({ dataDir: reins.home });
  const { door } = served;
  using dir = openTempDir();
  using gate = openGate(dir);
  using task = await openTask(door);
  const { task_id, workspace_id } = task;
  await using client = await openTerminals(door);
  const polite = cleansUp(dir, gate.path);
  const stubborn = `trap '' HUP; echo ready; : ${dir.path}; while :; do sleep 1000; done`;
  const opened = await Promise.all([
    ...Array.from({ length: POLITE }, () => openReady(door, polite, limits.grace_longest_ms)),
    ...Array.from({ length: STUBBORN }, () => openReady(door, stubborn, 100)),
  ]);
  const alive = () => findProcesses(dir.path).length;
  // A child of theirs looks like its parent until it runs its own program.
  await waitFor("all of them alone", () => alive() === POLITE + STUBBORN, patient);
  let isOver = false;
  const stopping = reins.run(["host", "stop"]).finally(() => {
    isOver = true;
  });
  // One after the other, the first would have to end before the second hears of it.
  await waitFor("all are hung up", () => countHups(dir) === POLITE, patient);
  await waitFor("the stubborn ones are killed", () => alive() === POLITE, patient);
  const argv = ["/bin/sh", "-c", `: ${dir.path}; sleep 1000`];
  const refused = await door.call("session.create", { kind: "terminal", argv });
  expect([refused.status, refused.body.error?.code]).toEqual([503, "shutting_down"]);
  const refusal = await client.refusal("terminal.open", { task_id, workspace_id });
  expect(refusal.code).toBe("shutting_down");
  expect((await reins.run(["run", "--detach", "--", ...argv])).code).toBe(7);
  expect([alive(), isOver]).toEqual([POLITE, false]);
  gate.open(POLITE);
  const stopped = `The host was stopped, and ${POLITE + STUBBORN} sessions ended.\n`;
  expect(await stopping).toMatchObject({ code: 0, stderr: stopped });
  expect(alive()).toBe(0);
  // The next host knows how they ended, and of none that was refused.
  const { sessions } = await door.get("session.list", {});
  expect(sessions.length).toBe(opened.length);
  for (const { state } of sessions)
    expect(state).toMatchObject({ kind: "exited", reason: "host_shutdown" });
  const codes = sessions.map(({ state }) => state.kind === "exited" && state.exit_code);
  expect(codes.filter((code) => code === 7).length).toBe(POLITE);
  expect(codes.filter((code) => code === 137).length).toBe(STUBBORN);
});

test("a spawn in flight at a shutdown leaves no child", async () => {
  using dir = openTempDir();
  const dataDir = join(dir.path, "home");
  const marker = `73${process.pid}.5`;
  const before = 15;
  const behind = 5;
  await using host = await openTestHost({ dataDir });
  const start = () =>
    host
      .create({ kind: "terminal", argv: ["/bin/bash", "-c", `trap '' HUP; sleep ${marker}`] })
      .then(
        () => "opened",
        (error: { readonly code?: string }) => error.code,
      );
  const early = Array.from({ length: before }, start);
  const stopping = host.client.call("host.shutdown", {}).catch(() => undefined);
  const late = Array.from({ length: behind }, start);
  await host.client.closed;
  await stopping;
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  for (const answer of await Promise.all(early))
    expect(["opened", "shutting_down", "host_unavailable"]).toContain(answer);
  // Whoever asks behind it may find the door shut before there is an answer.
  for (const answer of await Promise.all(late))
    expect(["shutting_down", "host_unavailable"]).toContain(answer);
  await host.kill("SIGTERM");
  await using next = await openTestHost({ dataDir });
  const { sessions } = await next.client.call("session.list", {});
  for (const { state } of sessions)
    expect(state).toMatchObject({ kind: "exited", reason: "host_shutdown" });
  expect(sessions.length).toBeLessThanOrEqual(before);
});
