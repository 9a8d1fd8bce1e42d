import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { encodeJson } from "#host/socket/frames.ts";
import type { HostUpgrade } from "#host/socket/methods.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { type Edit, openOtherVersion } from "#test/harness/other-version.ts";
import { binPath } from "#test/harness/packaged.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { repeats, rows } from "#test/harness/repeats.ts";
import { type RunResult, runProgram } from "#test/harness/run-program.ts";
import { collect, eventsOf, inline, say, scripted } from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** An upgrade is two cold starts of the program, on a machine that does other things as well. */
const LONG_MS = 180_000;
const ROUNDS = repeats({ few: 2, full: 5 });
const FLOW_BYTES = repeats({ few: 4, full: 20 }) * 1024 * 1024;
const LINE_BYTES = 64;

/** Upgraded again and again, it is always the same host. */
const lease = leaseForFile(openTestHost);

const ATTACH = { method: "session.attach", id: 1 };
const OWN = [process.execPath, binPath];

function upgrade(host: TestHost, command: readonly string[] = OWN): Promise<HostUpgrade> {
  return host.client.call("host.upgrade", { command });
}

function reins(host: TestHost, args: readonly string[]): Promise<RunResult> {
  const env = { ...process.env, REINS_HOME: host.dataDir };
  return runProgram([...OWN, ...args], { env });
}

interface Typed {
  readonly session_id: string;
  readonly text: string;
  readonly input_id?: string;
  readonly generation?: number | undefined;
}

function type(host: TestHost, { text, ...rest }: Typed): Promise<unknown> {
  const data_b64 = Buffer.from(text).toString("base64");
  return host.client.call("session.input", { data_b64, ...rest });
}

async function text(host: TestHost, session_id: string, wanted: string): Promise<string> {
  return await waitFor(`output ${JSON.stringify(wanted)}`, () => {
    const dir = join(host.sessions, session_id, "output");
    const found = existsSync(dir)
      ? readdirSync(dir)
          .filter((name) => /^\d+$/.test(name))
          .map((name) => readFileSync(join(dir, name), "latin1"))
          .join("")
      : "";
    return found.includes(wanted) ? found : undefined;
  });
}

/** Prints numbered lines, at least so many bytes, until a file tells it to stop; never more than is kept. */
const FLOW = `
const [stop, least, most] = process.argv.slice(1);
const { existsSync } = require("node:fs");
let line = 0;
const print = () => {
  if (line * ${LINE_BYTES} >= least && existsSync(stop)) return process.exit(7);
  if (line * ${LINE_BYTES} >= most) return setTimeout(print, 20);
  let text = "";
  for (let n = 0; n < 512; n += 1) text += String(line++).padStart(${LINE_BYTES - 1}, "0") + "\\n";
  process.stdout.write(text, () => setTimeout(print, 20));
};
print();
`;

function checkFlow(bytes: Buffer): number {
  const lines = bytes.toString("latin1").split("\n");
  expect(lines.pop()).toBe("");
  const wrong = lines.findIndex(
    (line, number) => line !== String(number).padStart(LINE_BYTES - 1, "0"),
  );
  expect(wrong).toBe(-1);
  return lines.length;
}

test("upgrades in a row, while everything flows, lose nothing and nobody", {
  timeout: LONG_MS,
}, async () => {
  await using gateway = await openTestGateway();
  const { host } = gateway;
  const stop = join(host.dataDir, "stop");
  const argv = ["-e", FLOW, stop, String(FLOW_BYTES), String(2 * FLOW_BYTES)];
  const flow = await host.create({ argv: [process.execPath, ...argv] });
  const shell = await host.create({
    kind: "terminal",
    argv: ["/bin/sh"],
    env: { PATH: process.env.PATH ?? "", PS1: "$ " },
  });
  await using viewer = await gateway.attach(flow.session_id, "?since=0");
  await using typist = await gateway.attach(shell.session_id, "?role=controller&since=0");
  const cli = reins(host, ["logs", "-f", flow.session_id]);
  typist.send({ type: "stdin", data: "word=kept\n", id: "a" });
  await typist.printed("word=kept");
  // The test's own, the gateway's and the cli's.
  await waitFor("the cli is there", async () => {
    const { connections } = await host.client.call("host.health", {});
    return connections === 3;
  });
  const before = await waitFor("two looks that are the same", () => {
    const look = describeDescriptors(host.pid);
    return isDeepStrictEqual(describeDescriptors(host.pid), look) ? look : undefined;
  });
  const viewers = (await host.client.call("session.get", flow)).viewers;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const done = await upgrade(host);
    expect(done).toMatchObject({ pid: host.pid, live: 2 });
    const typed = await typist.ask({
      type: "stdin",
      data: `echo "$word" ${round}\n`,
      id: `t${round}`,
    });
    expect(typed.type).toBe("ack");
    await typist.printed(`kept ${round}`);
  }
  // The same clients are at it, and nothing was opened that was not closed.
  expect((await host.client.call("session.get", flow)).viewers).toBe(viewers);
  expect((await host.client.call("host.health", {})).connections).toBe(3);
  // What is written rarely is opened for each write, so one look may see more.
  const isAsBefore = () => isDeepStrictEqual(describeDescriptors(host.pid), before);
  await waitFor("the same descriptors", isAsBefore).catch(() => undefined);
  expect(describeDescriptors(host.pid)).toEqual(before);
  const list = await host.client.call("session.list", {});
  expect(list.sessions.map(({ pid }) => pid).toSorted()).toEqual([flow.pid, shell.pid].toSorted());
  writeFileSync(stop, "");
  const output = await host.output(flow.session_id);
  const lines = checkFlow(output.bytes);
  expect(lines * LINE_BYTES).toBeGreaterThanOrEqual(FLOW_BYTES);
  expect(await viewer.frame("exit")).toMatchObject({ exit_code: 7 });
  expect(viewer.output().equals(output.bytes)).toBe(true);
  const followed = await cli;
  expect(followed).toMatchObject({ code: 0, stderr: "" });
  expect(followed.stdout === output.text).toBe(true);
  const health = await host.client.call("host.health", {});
  expect(health).toMatchObject({ errors: 0, log_faults: 0, unreadable: [] });
  expect(existsSync(join(host.dataDir, "handover.json"))).toBe(false);
});

/** Sets something up; what it answers looks at it after the upgrade. */
type Scene = (host: TestHost) => Promise<() => Promise<void>>;

/** An end in the very middle of it is seen, with its code and its last words. */
const endsInTheMiddle: Scene = async (host) => {
  const file = join(host.dataDir, "handover.json");
  const wait = `while [ ! -e '${file}' ]; do sleep 0.01; done`;
  const command = await host.create({
    command: `${wait}; stat -c %a '${file}'; echo bye; exit 9`,
  });
  const terminal = await host.create({
    kind: "terminal",
    command: `${wait}; echo bye; kill -9 $$`,
  });
  return async () => {
    expect((await host.output(command.session_id)).text).toBe("600\nbye\n");
    expect((await host.output(terminal.session_id)).text).toBe("bye\r\n");
    const ended = async (session_id: string) =>
      (await host.client.call("session.get", { session_id })).state;
    expect(await ended(command.session_id)).toMatchObject({ kind: "exited", exit_code: 9 });
    expect(await ended(terminal.session_id)).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  };
};

/** Input that was taken and not read yet arrives whole, and once. */
const takesInput: Scene = async (host) => {
  const go = join(host.dataDir, "go");
  const wait = `while [ ! -e '${go}' ]; do sleep 0.05; done`;
  const piped = await host.create({ command: `${wait}; sha256sum`, stdin: true });
  const bytes = randomBytes(1_000_000);
  for (let at = 0; at < bytes.length; at += 200_000)
    await host.client.call("session.input", {
      session_id: piped.session_id,
      data_b64: bytes.subarray(at, at + 200_000).toString("base64"),
      input_id: `part-${at}`,
      eof: at + 200_000 === bytes.length,
    });
  const { session_id } = await host.create({
    kind: "terminal",
    command: `${wait}; read a; read b; echo "<$a$b>"`,
  });
  await type(host, { session_id, text: "one\n", input_id: "one" });
  return async () => {
    // Sent again by somebody who did not hear that it was taken.
    await type(host, { session_id, text: "one\n", input_id: "one" });
    await type(host, { session_id, text: "two\n", input_id: "two" });
    writeFileSync(go, "");
    const sum = createHash("sha256").update(bytes).digest("hex");
    expect((await host.output(piped.session_id)).text).toBe(`${sum}  -\n`);
    expect((await host.output(session_id)).text).toContain("<onetwo>");
  };
};

/** The client in control keeps it, and one that lost it does not get it back. */
const keepsControl: Scene = async (host) => {
  const { session_id } = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
  const attach = (viewer: string, takeover = false) =>
    host.client.call("session.attach", { session_id, viewer, role: "controller", takeover });
  const first = await attach("first");
  const second = await attach("second", true);
  return async () => {
    const { controller, viewers } = await host.client.call("session.get", { session_id });
    expect(controller).toEqual({
      holder: `second#${second.attachment}`,
      generation: second.generation,
    });
    expect(viewers).toBe(2);
    const generation = (given: { generation: number | null }) => given.generation ?? undefined;
    await expect(
      type(host, { session_id, text: "x", generation: generation(first) }),
    ).rejects.toMatchObject({ code: "not_controller" });
    await host.client.type(second.attachment, Buffer.from("typed\n"), "k1");
    await text(host, session_id, "typed");
    await host.client.call("session.detach", { attachment: second.attachment });
    expect((await host.client.call("session.get", { session_id })).controller).toBeNull();
    expect((await attach("third")).generation).toBe((second.generation ?? 0) + 1);
  };
};

/** The processes that a session has started are still its own, and end with it. */
const ownsItsTree: Scene = async (host) => {
  const mark = `7${process.pid}${Date.now() % 100_000}`;
  const hidden = `setsid env -i sleep ${mark} & sleep ${mark} &`;
  const command = `${hidden} sleep ${mark}`;
  const { session_id, pid } = await host.create({ command });
  // Without a cgroup, so that they are found by their marks alone.
  const left = await host.create({ command: `${hidden} exit 0`, brief: true });
  await waitFor("all of them run", () => findSleepers(mark).length === 5);
  await waitFor(
    "it has exited",
    async () => (await host.client.call("session.get", left)).state.kind === "exited",
  );
  const cgroups = findCgroups(pid ?? 0).filter((folder) => folder.endsWith(session_id));
  return async () => {
    expect(
      (await host.client.call("session.tree", { session_id })).processes,
    ).toBeGreaterThanOrEqual(3);
    expect((await host.client.call("session.tree", left)).processes).toBe(2);
    await host.client.call("session.close", { session_id });
    expect(findSleepers(mark)).toHaveLength(2);
    expect(cgroups.filter((folder) => existsSync(folder))).toEqual([]);
    await host.client.call("session.close", { session_id: left.session_id });
    expect(findSleepers(mark)).toEqual([]);
  };
};

/** Timers continue where they were. */
const keepsTimers: Scene = async (host) => {
  const { session_id } = await host.create({ argv: ["/bin/sleep", "1000"], lifetime_ms: 2500 });
  return async () => {
    const { state } = await waitFor("its time is over", async () => {
      const session = await host.client.call("session.get", { session_id });
      return session.state.kind === "exited" ? session : undefined;
    });
    expect(state).toMatchObject({ reason: "lifetime_timeout" });
  };
};

/** A client that reads nothing keeps control as long as there is room for what it is told. */
const keepsSilentClient: Scene = async (host) => {
  const { session_id } = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
  const silent = await openSilent(host);
  silent.ask([{ ...ATTACH, params: { session_id, viewer: "silent", role: "controller" } }]);
  const find = async () => (await host.client.call("session.get", { session_id })).controller;
  const held = await waitFor("it has control", async () => (await find()) ?? undefined);
  return async () => {
    expect(await find()).toEqual(held);
    await silent.leave();
    await waitFor("control is free", async () => (await find()) === null);
  };
};

/** The timers come last, so that theirs do not end before the upgrade. */
const SCENES = [takesInput, keepsControl, ownsItsTree, keepsSilentClient, keepsTimers];

describe("across an upgrade", () => {
  test("ends, input, control, descendants and timers are as they were", {
    timeout: LONG_MS,
  }, async () => {
    await using host = await lease();
    const checks = [];
    for (const scene of SCENES) checks.push(await scene(host));
    // Last, because it ends at the first upgrade; the second one brings over again what has come over.
    checks.push(await endsInTheMiddle(host));
    await upgrade(host);
    await upgrade(host);
    for (const check of checks) await check();
  });

  test("no descriptor of a session is in a child of another", { timeout: LONG_MS }, async () => {
    await using host = await lease();
    await host.create({ kind: "terminal", argv: ["/bin/cat"] });
    await host.create({ argv: ["/bin/cat"], stdin: true });
    const kept = keptOnExec(host.pid);
    await upgrade(host);
    const { pid } = await host.create({ argv: ["/bin/cat"], stdin: true });
    // The shell in which it joins its cgroup has more for a moment.
    await waitFor("it has its own three", () => readdirSync(`/proc/${pid}/fd`).length === 3);
    // Nothing would survive another exec that did not before.
    expect(keptOnExec(host.pid)).toEqual(kept);
  });

  test("an agent goes on in the middle of its turn", { timeout: LONG_MS }, async () => {
    await using gateway = await openTestGateway();
    const { host, url, token } = gateway;
    const go = join(host.dataDir, "go");
    const command = `while [ ! -e '${go}' ]; do sleep 0.05; done; echo went on`;
    const steps = [
      {
        when: { last_role: "user" },
        tool_calls: [{ tool: "execute", input: { command, timeout: "10m" } }],
      },
      { when: { last_tool_result_contains: "went on" }, text: "Done." },
    ];
    const source = inline(scripted(steps, { toolsets: [{ type: "shell" }] }));
    const backend = openRemoteBackend(createClient({ url, token }));
    const runtime = await backend.create({
      source,
      working_dir: host.dataDir,
      safety: "autonomous",
    });
    const turn = collect(runtime.run(say("Go.")));
    await waitFor("the tool runs", () => findProcesses(go).length > 0);
    const { pid, life } = await host.client.call("session.get", { session_id: runtime.session_id });
    await upgrade(host);
    writeFileSync(go, "");
    expect(eventsOf(await turn, "turn.ended")).toMatchObject([{ reason: "done" }]);
    expect(await host.client.call("session.get", { session_id: runtime.session_id })).toMatchObject(
      { pid, life },
    );
  });
});

type Broken = readonly [title: string, edits: readonly Edit[], sentence: string];
/** Before it has the place, and after. */
const BROKEN: readonly Broken[] = [
  [
    "cannot be started",
    [{ file: "bin/reins.mjs", from: "await start();", to: "throw new Error('broken');" }],
    "broken",
  ],
  [
    "does not know this hand-over",
    [{ file: "src/host/session/hand-over.ts", from: "= [HAND_OVER_VERSION]", to: "= [99]" }],
    "reins 9.9.9 cannot read a hand-over of version 1",
  ],
  [
    "is older than the data",
    [{ file: "src/host/data-dir.ts", from: "DATA_FORMAT = 1", to: "DATA_FORMAT = 0" }],
    "was written by a newer Reins",
  ],
  [
    "fails once it has the place, which it gives back,",
    [
      {
        file: "src/host/session/hand-over.ts",
        from: "const parsed = HandOver.safeParse(content);",
        to: 'throw new Error("a mistake");',
      },
    ],
    "has come back",
  ],
];

describe("another version", () => {
  test("takes over by reins host upgrade, and says so", { timeout: LONG_MS }, async () => {
    await using host = await lease();
    using newer = openOtherVersion("9.9.9");
    const session = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
    const env = { ...process.env, REINS_HOME: host.dataDir };
    const { version } = host.client.hello;
    const said = await runProgram([...newer.command, "host", "upgrade"], { env });
    expect(said).toMatchObject({
      code: 0,
      stdout: `The host ${host.pid} was reins ${version} and is reins 9.9.9 now; 1 session went on.\n`,
    });
    using next = await connectHost(locateDataDir(host.dataDir).socket);
    expect(next.hello).toMatchObject({ version: "9.9.9", pid: host.pid });
    expect(await host.client.call("session.get", session)).toMatchObject({
      pid: session.pid,
      state: { kind: "running" },
    });
    const back = await reins(host, ["host", "upgrade", "--json"]);
    expect(JSON.parse(back.stdout)).toEqual({
      pid: host.pid,
      version,
      from_version: "9.9.9",
      live: 1,
    });
  });

  test.each(
    rows({
      few: [BROKEN[0], BROKEN[3]].flatMap((row) => (row === undefined ? [] : [row])),
      full: BROKEN,
    }),
  )("that %s changes nothing", { timeout: LONG_MS }, async (_title, edits, sentence) => {
    await using host = await lease();
    using broken = openOtherVersion("9.9.9", edits);
    const { session_id, pid } = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
    await expect(upgrade(host, broken.command)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(sentence),
    });
    const { version } = host.client.hello;
    expect(await host.client.call("host.health", {})).toMatchObject({
      version,
      pid: host.pid,
      live: 1,
    });
    await type(host, { session_id, text: "still here\n" });
    await text(host, session_id, "still here");
    expect(isAlive(pid ?? 0)).toBe(true);
    expect(existsSync(join(host.dataDir, "handover.json"))).toBe(false);
    // And the next one succeeds.
    expect(await upgrade(host)).toMatchObject({ version, live: 1 });
  });

  test.each([
    [["/nonexistent/reins"], "spawn_failed"],
    [["/bin/true"], "unsupported"],
    [["bin/reins"], "invalid_request"],
  ])("by the command %j is refused", async (command, code) => {
    await using host = await lease();
    await expect(upgrade(host, command)).rejects.toMatchObject({ code });
    expect(await host.client.call("host.health", {})).toMatchObject({ pid: host.pid, errors: 0 });
  });
});

describe("a client that reads nothing", () => {
  test("is cut beyond that, and lets go of what it held", { timeout: LONG_MS }, async () => {
    await using host = await lease();
    const { session_id } = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
    await using silent = await openSilent(host);
    const params = { session_id, viewer: "silent", role: "controller" };
    const list = Array.from({ length: 2000 }, () => ({
      id: 2,
      method: "session.list",
      params: {},
    }));
    silent.ask([{ ...ATTACH, params }, ...list]);
    await waitFor("it has control", async () => {
      const session = await host.client.call("session.get", { session_id });
      return session.controller !== null;
    });
    expect(await upgrade(host)).toMatchObject({ live: 1 });
    const after = await host.client.call("session.get", { session_id });
    expect(after).toMatchObject({ controller: null, viewers: 0 });
  });
});

test("a host guards its memory, also after an upgrade has put another program in its place", {
  timeout: LONG_MS,
}, async () => {
  await using host = await openTestHost({ through: ["env", "-u", "REINS_DUMPABLE"] });
  const isGuarded = async () => (await host.client.call("host.health", {})).memory_guarded;
  expect(await isGuarded()).toBe(true);
  await upgrade(host);
  expect(await isGuarded()).toBe(true);
});

test("an older host is not upgraded, and one that is not there needs not be", async () => {
  await using host = await openTestHost();
  expect(host.client.hello.features).toContain("upgrade");
  using temp = openTempDir();
  const env = { ...process.env, REINS_HOME: temp.path };
  const none = await runProgram([...OWN, "host", "upgrade"], { env });
  expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining("No host is running") });
  const hello = { type: "hello", protocol: 1, features: ["sessions"], pid: 1, version: "0.0.1" };
  const old = createServer((socket) =>
    socket.on("error", () => undefined).write(encodeJson(hello)),
  );
  old.listen(locateDataDir(temp.path).socket);
  await once(old, "listening");
  const refused = await runProgram([...OWN, "host", "upgrade"], { env });
  old.close();
  expect(refused).toMatchObject({ code: 12, stderr: expect.stringContaining("is reins 0.0.1") });
});

/** A client that asks and does not read. */
async function openSilent(host: TestHost) {
  const socket = createConnection(locateDataDir(host.dataDir).socket).pause();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const leave = async () => void socket.destroy();
  return {
    ask: (requests: readonly object[]) => {
      for (const request of requests) socket.write(encodeJson(request));
    },
    leave,
    [Symbol.asyncDispose]: leave,
  };
}

/** Where they can be made, a session has one; it is removed when it is empty. */
function findCgroups(pid: number): string[] {
  const path = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const mount = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ")[4];
  return path === undefined || mount === undefined ? [] : [join(mount, path)];
}

/** Not the shells that have the same words in their command. */
function findSleepers(seconds: string): number[] {
  return findProcesses(`sleep ${seconds}`).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1") === `sleep\0${seconds}\0`;
    } catch {
      // It ended while we looked.
      return false;
    }
  });
}

/** What the host has open, by kind: numbers of files and pipes differ from program to program. */
function describeDescriptors(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/\d+/g, "N")];
    } catch {
      // Closed while we looked.
      return [];
    }
  });
  return links.toSorted();
}

/** Descriptors that the next program would find open. */
function keptOnExec(pid: number): string[] {
  const O_CLOEXEC = 0o2000000;
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      const text = readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8");
      const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(text)?.[1] ?? "0", 8);
      return Number(fd) > 2 && (flags & O_CLOEXEC) === 0;
    } catch {
      // Closed while we looked.
      return false;
    }
  });
}
