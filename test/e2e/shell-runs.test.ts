import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runLabels } from "#app/shell/claim.ts";
import { followRun } from "#app/shell/follow.ts";
import { startRun } from "#app/shell/run.ts";
import { createShellOperations } from "#app/shell/shell.ts";
import { limits } from "#contract/limits.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { createLocalHosts, openLocalHosts } from "#session/local-host.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { hostsWith } from "#test/harness/hosts-with.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { collect, openShellDeps, openTestShells, type TestShells } from "#test/harness/shells.ts";

const leaseShells = leaseForFile(openTestShells);
const starter = fileURLToPath(new URL("../harness/shell-starter.ts", import.meta.url));

/** Starts a command and waits until it has printed its first byte. */
async function startAndSee(shells: TestShells, shell_id: string, command: string) {
  const session = await startRun(shells.deps, createTestCaller(), { shell_id, command });
  using handle = await shells.deps.hosts.of(session.session_id).open(session.session_id);
  await handle.until(({ tail }) => tail > 0);
  const follow = (since?: number) =>
    collect(followRun(shells.deps, { shell_id, session_id: session.session_id, since }));
  return { ...session, follow };
}

function starterProcess(shells: TestShells, shellId: string, command: string) {
  const child = spawn(process.execPath, [starter, shells.host.dataDir, shellId, command], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const line = once(createInterface(child.stdout), "line").then(([text]) => String(text));
  return {
    line,
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

test("a run says its session, what it prints with offsets, then its end", async () => {
  await using shells = await leaseShells();
  const shell = await shells.create({ work_dir: "/usr" });
  const { items, session_id } = await shells.run(shell, "printf 'ä€'; exit 3");
  expect(items).toEqual([
    { data: { type: "run", session_id } },
    { id: 5, data: { type: "stdout", offset: 0, data: "ä€", encoding: "utf8" } },
    {
      id: 5,
      data: {
        ...{ type: "exit", exit_code: 3, signal: null, reason: "exited", timed_out: false },
        ...{ tail: 5, state_saved: true },
      },
    },
  ]);
  expect(await shells.host.operations["session.get"]({ session_id })).toMatchObject({
    kind: "command",
    title: "printf 'ä€'; exit 3",
    work_dir: "/usr",
  });
  expect(await shells.operations["shell.get"]({ shell_id: shell })).toMatchObject({
    work_dir: "/usr",
    running_session_id: null,
    last_run_at: expect.any(String),
  });
});

test("a timeout ends the whole tree and leaves the state as it was", async () => {
  await using shells = await leaseShells();
  const shell = await shells.create();
  await shells.run(shell, "x=1");
  const deaf = "x=2; trap '' HUP; sleep 4321.5 & sleep 4321.5 & wait; sleep 4321.5";
  for (const command of [deaf, "x=2; sleep 4321.5"]) {
    const { exit } = await shells.run(shell, command, { timeout_ms: 200 });
    expect(exit).toMatchObject({ timed_out: true, reason: "lifetime_timeout", state_saved: false });
  }
  expect(findProcesses("sleep 4321.5")).toEqual([]);
  expect(await shells.run(shell, "echo $x")).toMatchObject({ stdout: "1\n" });
});

test("an interrupt ends the run, and what it did so far is kept", async () => {
  await using shells = await leaseShells();
  const shell = await shells.create();
  const run = await startAndSee(shells, shell, "x=2; sh -c 'echo go; exec sleep 1000'; echo never");
  const { session_id } = run;
  await shells.host.client.call("session.signal", { session_id, signal: "SIGINT", scope: "tree" });
  const { stdout, exit } = await run.follow();
  expect(stdout).toBe("go\n");
  expect(exit).toMatchObject({ exit_code: 130, signal: "SIGINT", state_saved: true });
  expect(await shells.run(shell, "echo $x")).toMatchObject({ stdout: "2\n" });
});

test("input reaches the run by its own session", async () => {
  await using shells = await leaseShells();
  const shell = await shells.create();
  const run = await startAndSee(shells, shell, "echo go; read -r line; echo got $line; cat");
  const data_b64 = Buffer.from("one\ntwo\n").toString("base64");
  await shells.host.client.call("session.input", {
    session_id: run.session_id,
    data_b64,
    eof: true,
  });
  expect(await run.follow()).toMatchObject({ stdout: "go\ngot one\ntwo\n" });
  expect(await shells.run(shell, "echo $line")).toMatchObject({ stdout: "one\n" });
});

test("a run can be followed again from any offset, also after its end", async () => {
  await using shells = await leaseShells();
  const shell = await shells.create();
  const run = await startAndSee(
    shells,
    shell,
    "echo one; echo two >&2; (sleep 0.1; echo late) & echo three",
  );
  const all = await run.follow();
  expect(all).toMatchObject({ stdout: "one\nthree\n", stderr: "two\n" });
  await shells.run(shell, "echo other");
  // What the job printed meanwhile is in the session's log, but not the run's.
  using handle = await shells.deps.hosts.of(run.session_id).open(run.session_id);
  await handle.until(({ tail }) => tail >= 19);
  const again = await run.follow(4);
  expect(again).toMatchObject({ stdout: "three\n", stderr: "two\n", exit: all.exit });
  expect((await run.follow(14)).items).toHaveLength(2);
});

test("who stops listening does not end the run", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const stop = new AbortController();
  const stream = await shells.operations["shell.run"](
    { shell_id, command: "echo go; read -r; x=3" },
    { signal: stop.signal },
  );
  for await (const { data } of stream) if (data.type === "stdout") stop.abort();
  expect(shells.deps.hosts.all()[0].followed).toBe(0);
  const { running_session_id } = await shells.operations["shell.get"]({ shell_id });
  const session_id = running_session_id ?? "";
  await shells.host.client.call("session.input", { session_id, eof: true });
  await waitFor("the run is over", async () => {
    const shell = await shells.operations["shell.get"]({ shell_id });
    return shell.running_session_id === null;
  });
  expect(await shells.run(shell_id, "echo $x")).toMatchObject({ stdout: "3\n" });
});

test("one run at a time, whoever asks", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const run = await startAndSee(shells, shell_id, "echo go; read -r");
  const dir = locateDataDir(shells.host.dataDir);
  using client = await connectHost(dir.socket);
  using other = openShellDeps(dir.path, createLocalHosts(client, dir.sessions));
  const elsewhere = createShellOperations(other, createTestCaller());
  const details = { shell_id, session_id: run.session_id };
  for (const operations of [shells.operations, elsewhere]) {
    const refused = operations["shell.run"]({ shell_id, command: "echo no" });
    await expect(refused).rejects.toMatchObject({ code: "busy", details });
    const found = await operations["shell.get"]({ shell_id });
    expect(found.running_session_id).toBe(run.session_id);
  }
  await shells.host.client.call("session.input", { session_id: run.session_id, eof: true });
  await run.follow();
  const asked = Array.from({ length: 8 }, (_, n) =>
    (n % 2 === 0 ? shells.operations : elsewhere)
      ["shell.run"]({ shell_id, command: "n+=x; read -r" })
      .then(
        () => "runs",
        (error: { readonly code: string }) => error.code,
      ),
  );
  const answers = await Promise.all(asked);
  expect(answers.toSorted()).toEqual([...Array(7).fill("busy"), "runs"]);
});

test("a start that takes its time is not taken for a dead one by its own process", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const gate = Promise.withResolvers<void>();
  const hosts = hostsWith(shells.deps.hosts, { connect: () => gate.promise });
  const request = { shell_id, command: "echo first" };
  const first = startRun({ ...shells.deps, hosts }, createTestCaller(), request);
  await expect(shells.run(shell_id, "echo second")).rejects.toMatchObject({ code: "busy" });
  gate.resolve();
  const { session_id } = await first;
  const run = await collect(followRun(shells.deps, { shell_id, session_id }));
  expect(run.stdout).toBe("first\n");
});

test("a run outlives the process that started it, killed by -9", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  await using gateway = starterProcess(shells, shell_id, "x=9; cd /usr; read -r");
  const session_id = await gateway.line;
  await using second = starterProcess(shells, shell_id, "echo no");
  expect(await second.line).toBe("busy");
  await gateway.kill();
  expect(await shells.operations["shell.get"]({ shell_id })).toMatchObject({
    running_session_id: session_id,
  });
  await expect(shells.run(shell_id, "echo no")).rejects.toMatchObject({ code: "busy" });
  await shells.host.client.call("session.input", { session_id, eof: true });
  const shell = await waitFor("the run is over", async () => {
    const found = (await shells.operations["shell.list"]({})).shells;
    return found.find((each) => each.shell_id === shell_id && each.running_session_id === null);
  });
  expect(shell.work_dir).toBe("/usr");
  expect(await shells.run(shell_id, "echo $x; pwd")).toMatchObject({ stdout: "9\n/usr\n" });
});

test("a claim whose starter died before its session was made is taken over, and the dead one can start nothing", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const dead = "run_0000000000000000";
  expect(shells.deps.store.swapRunning(shell_id, null, dead)).toBe(true);
  expect(await shells.operations["shell.get"]({ shell_id })).toMatchObject({
    running_session_id: null,
  });
  expect(await shells.run(shell_id, "echo on")).toMatchObject({ stdout: "on\n" });
  const row = shells.deps.store.find(shell_id);
  if (row === undefined) throw new Error("the shell is gone");
  const late = await shells.host.create({ argv: ["sleep", "1000"], labels: runLabels(row, dead) });
  expect(late.argv).toEqual(["bash", "-c", ":"]);
});

test("a starter whose claim is gone when its session is made ends that session", async () => {
  await using shells = await leaseShells();
  const { deps, host } = shells;
  const losses = {
    busy: (id: string, claim: string) => deps.store.swapRunning(id, claim, "run_0000000000000001"),
    shell_not_found: (id: string) => deps.store.remove(id),
  };
  for (const [code, lose] of Object.entries(losses)) {
    const shell_id = await shells.create();
    const connect = async () => {
      const claim = deps.store.find(shell_id)?.running;
      if (typeof claim === "string") lose(shell_id, claim);
    };
    const hosts = hostsWith(deps.hosts, { connect });
    const started = startRun({ ...deps, hosts }, createTestCaller(), {
      shell_id,
      command: "read -r",
    });
    await expect(started).rejects.toMatchObject({ code });
  }
  const { sessions } = await host.client.call("session.list", {});
  expect(sessions.map(({ state }) => state.kind)).toEqual(["exited", "exited"]);
});

test("random numbers differ although the state is the same", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  await shells.run(shell_id, "RANDOM=1");
  const roll = "echo $RANDOM$RANDOM$RANDOM; kill -9 $$";
  const first = await shells.run(shell_id, roll);
  const second = await shells.run(shell_id, roll);
  expect(first.stdout).not.toBe(second.stdout);
});

test("closing a shell ends its run and removes its folder", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const folder = join(shells.deps.folder, shell_id);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await shells.run(shell_id, "umask 0");
  const run = await startAndSee(shells, shell_id, "echo go; read -r");
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  await shells.operations["shell.close"]({ shell_id });
  expect(existsSync(folder)).toBe(false);
  const { exit } = await run.follow();
  expect(exit).toMatchObject({ reason: "user_requested", state_saved: false });
  for (const call of [
    shells.operations["shell.get"]({ shell_id }),
    shells.operations["shell.close"]({ shell_id }),
    shells.operations["shell.run"]({ shell_id, command: "echo" }),
  ])
    await expect(call).rejects.toMatchObject({ code: "shell_not_found" });
  expect(existsSync(folder)).toBe(false);
});

test("a shell of another workspace is one that does not exist", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  const foreign = shells.as({ workspaces: [] });
  expect(await foreign["shell.list"]({})).toEqual({ shells: [], cursor: null });
  const notFound = { code: "shell_not_found" };
  await expect(foreign["shell.get"]({ shell_id })).rejects.toMatchObject(notFound);
  await expect(foreign["shell.close"]({ shell_id })).rejects.toMatchObject(notFound);
  const refused = foreign["shell.run"]({ shell_id, command: "echo" });
  await expect(refused).rejects.toMatchObject(notFound);
  const made = foreign["shell.create"]({});
  await expect(made).rejects.toMatchObject({ code: "workspace_not_found" });
});

test("a shell that cannot be made leaves nothing", async () => {
  await using shells = await leaseShells();
  const { folder } = shells.deps;
  const listed = () => shells.operations["shell.list"]({});
  const before = [existsSync(folder) ? readdirSync(folder) : [], await listed()];
  const made = shells.create({ work_dir: "/nonexistent" });
  await expect(made).rejects.toMatchObject({ code: "spawn_failed" });
  const named = shells.create({ env: { REINS_SESSION_ID: "x" } });
  await expect(named).rejects.toMatchObject({ code: "invalid_request", details: { field: "env" } });
  expect([existsSync(folder) ? readdirSync(folder) : [], await listed()]).toEqual(before);
});

test("without bash a run is spawn_failed, and the shell is free again", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create({ env: { PATH: "/nonexistent" } });
  const before = readdirSync(join(shells.deps.folder, shell_id)).length;
  for (const command of ["echo 1", "echo 2"])
    await expect(shells.run(shell_id, command)).rejects.toMatchObject({ code: "spawn_failed" });
  expect(shells.deps.store.find(shell_id)?.running).toBeNull();
  expect(readdirSync(join(shells.deps.folder, shell_id))).toHaveLength(before + 2);
});

test("a state that is too large is not saved, and the run says so", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create();
  await shells.run(shell_id, "x=1");
  const big = `x=2; printf -v big '%*s' ${limits.shell_state_bytes} ''`;
  for (const command of [big, `${big}; exit 3`]) {
    const { exit, stderr } = await shells.run(shell_id, command);
    expect(exit.state_saved).toBe(false);
    expect(stderr).toMatch(/^reins: the state of this shell was not saved: .*\n$/);
  }
  expect(await shells.run(shell_id, "echo $x")).toMatchObject({ stdout: "1\n" });
});

test("the environment of a shell is the caller's and the request's, and a command may be long", async () => {
  await using shells = await leaseShells();
  const shell_id = await shells.create({
    env: { A: "it's\n$x", "odd.name": "o", BASH_ENV: "/no" },
  });
  const { stdout } = await shells.run(
    shell_id,
    'echo "$A"; env | grep odd; echo $LANG; env | grep -c BASH_ENV',
  );
  expect(stdout).toBe("it's\n$x\nodd.name=o\nC.UTF-8\n0\n");
  const text = "é".repeat(200_000);
  expect(await shells.run(shell_id, `x=${text}; echo \${#x}`)).toMatchObject({
    stdout: "200000\n",
  });
});

test("a run whose host died ends as lost, and the next one starts from the state before", async () => {
  await using shells = await openTestShells();
  const shell_id = await shells.create();
  await shells.run(shell_id, "x=1");
  const { dataDir } = shells.host;
  const run = await startRun(shells.deps, createTestCaller(), {
    shell_id,
    command: "x=2; echo go; read -r",
  });
  await shells.host.kill("SIGKILL");
  await using next = await openTestHost({ dataDir });
  using deps = openShellDeps(dataDir, next.hosts);
  const { session_id } = run;
  const { exit } = await collect(followRun(deps, { shell_id, session_id }));
  expect(exit).toMatchObject({ exit_code: null, reason: "host_lost", state_saved: false });
  const operations = createShellOperations(deps, createTestCaller());
  const stream = await operations["shell.run"]({ shell_id, command: "echo $x" });
  expect(await collect(stream)).toMatchObject({ stdout: "1\n" });
});

test("who follows while the host is replaced hears the end from the next host", async () => {
  await using shells = await openTestShells();
  const shell_id = await shells.create();
  const { dataDir, sessions } = shells.host;
  const { socket } = locateDataDir(dataDir);
  const open = () => waitFor("a host answers", () => connectHost(socket).catch(() => undefined));
  const gone = Promise.withResolvers<void>();
  using hosts = openLocalHosts({
    open: async () => {
      const client = await open();
      void client.closed.then(() => gone.resolve());
      return client;
    },
    sessionsFolder: sessions,
  });
  using deps = openShellDeps(dataDir, hosts);
  const operations = createShellOperations(deps, createTestCaller());
  const stream = await operations["shell.run"]({ shell_id, command: "echo go; read -r" });
  const seen = Promise.withResolvers<void>();
  const followed = collect(
    (async function* () {
      for await (const item of stream) {
        if (item.data.type === "stdout") seen.resolve();
        yield item;
      }
    })(),
  );
  await seen.promise;
  const ended = followed.then(() => "ended");
  await shells.host.kill("SIGKILL");
  await gone.promise;
  expect(await Promise.race([ended, setImmediate("goes on")])).toBe("goes on");
  await using _next = await openTestHost({ dataDir });
  expect(await followed).toMatchObject({ stdout: "go\n", exit: { reason: "host_lost" } });
});
