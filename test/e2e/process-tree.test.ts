import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { catches, findProcesses, isAlive } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** What a command starts and leaves: looked at in /proc, from outside. */

const stack = new AsyncDisposableStack();
let host: TestHost;
let tools: TestTools;
beforeAll(async () => {
  host = stack.use(await openTestHost());
  tools = stack.use(openTestTools(host));
});
afterAll(() => stack.disposeAsync());

const background = (command: string, more: object = {}) =>
  tools
    .execute(command, { run_in_background: true, ...more })
    .then((started) => started.background_process_id);
const signal = (process_id: string | undefined, name: string, escalate_after?: string) =>
  tools.call("process_signal", { process_id, signal: name, escalate_after });
const untilPrinted = (process_id: string | undefined, pattern: string) =>
  tools.call("process_output", { process_id, wait: "20s", wait_for: "regex", pattern });

test("a grandchild that holds the output does not hold the answer", async () => {
  const nap = createNap();
  const done = await tools.execute(`exec > >(cat); (${nap}) & echo out; exit 3`);
  expect(done).toMatchObject({ success: false, running: false, exit_code: 3 });
  expect(done.background_process_id).toMatch(/^ses_/);
  expect(findProcesses(nap).length).toBeGreaterThan(0);
  await signal(done.background_process_id, "kill", "10s");
  expect(findProcesses(nap)).toEqual([]);
});

test("what a descendant prints after the answer is still captured", async () => {
  using dir = openTempDir();
  const go = `${dir.path}/go`;
  const done = await tools.execute(
    `(until [ -e ${go} ]; do sleep 0.02; done; echo late && echo alive > ${dir.path}/after) & echo early`,
  );
  expect(done).toMatchObject({ exit_code: 0, output: "early\n" });
  const id = done.background_process_id;
  expect(await tools.execute(`touch ${go}`)).toMatchObject({ exit_code: 0 });
  const read = await tools.call("process_output", {
    process_id: id,
    since: 6,
    wait: "20s",
    wait_for: "output",
  });
  expect(read).toMatchObject({ output: "late\n", offset: 6, next_offset: 11, exit_code: 0 });
  // It was not killed by a pipe without a reader.
  await waitFor("what it does next", () => tryRead(`${dir.path}/after`) === "alive\n");
});

test("daemons that leave their session and their parents are found and ended", async () => {
  const nap = createNap();
  const done = await tools.execute(`setsid -f ${nap}; (setsid ${nap} >/dev/null 2>&1 &); echo up`);
  expect(done).toMatchObject({ exit_code: 0, output: "up\n" });
  await waitFor("both", () => findProcesses(nap).length === 2);
  const id = done.background_process_id;
  const { processes } = await tools.call("process_list", {});
  expect(processes.find((entry) => entry.process_id === id)).toMatchObject({ descendants: 2 });
  expect(await signal(id, "kill", "10s")).toMatchObject({ success: true });
  expect(findProcesses(nap)).toEqual([]);
});

test("a daemon that no & has made is told of when it holds the output", async () => {
  const nap = createNap();
  const done = await tools.execute(`setsid -f ${nap}; echo up`);
  expect(done).toMatchObject({ exit_code: 0, output: "up\n" });
  expect(done.note).toContain("1 process that it started runs on");
  await signal(done.background_process_id, "kill", "10s");
  expect(findProcesses(nap)).toEqual([]);
});

test("terminate reaches every member, and traps run", async () => {
  const nap = createNap();
  const id = await background(
    `trap 'echo cleaned; exit 5' TERM; echo ready; ${nap} | ${nap} & wait`,
  );
  await untilPrinted(id, "ready");
  // Until it runs its own program, a child has its parent's handler and survives the signal.
  const naps = () => findProcesses(nap).filter((pid) => !catches(pid, "SIGTERM"));
  await waitFor("both", () => naps().length === 2);
  expect(await signal(id, "terminate", "20s")).toEqual({
    success: true,
    message: "ended by SIGTERM",
    signal_used: "SIGTERM",
  });
  expect(findProcesses(nap)).toEqual([]);
  expect(await tools.call("process_output", { process_id: id })).toMatchObject({
    output: "ready\ncleaned\n",
    exit_code: 5,
    running: false,
  });
});

test("what ignores SIGTERM is killed after the time, and the answer says so", async () => {
  const id = await background(`trap '' TERM; echo ready; while :; do sleep 0.1; done`);
  await untilPrinted(id, "ready");
  const plain = await signal(id, "terminate");
  expect(plain).toMatchObject({ success: true, signal_used: "SIGTERM" });
  expect(await signal(id, "terminate", "200ms")).toEqual({
    success: true,
    message: "SIGTERM was not enough: SIGKILL ended it",
    signal_used: "SIGKILL",
  });
  const read = await tools.call("process_wait", { process_id: id });
  expect(read).toMatchObject({ success: false, running: false, exit_code: 137, signal: "SIGKILL" });
});

test("members are signalled after their leader's death; nobody left is no error", async () => {
  const nap = createNap();
  const done = await tools.execute(`${nap} & echo $!`);
  const id = done.background_process_id;
  expect(await signal(id, "terminate", "10s")).toMatchObject({
    success: true,
    signal_used: "SIGTERM",
  });
  expect(isAlive(Number(done.output))).toBe(false);
  for (const name of ["terminate", "kill"])
    expect(await signal(id, name, "1s")).toEqual({
      success: true,
      message: "already exited",
      signal_used: null,
    });
});

test("zombies are dead", async () => {
  // Its child ends and is never waited for, so it stays a zombie as long as its parent sleeps.
  const nap = createNap();
  const id = await background(`sleep 0.05 & echo $!; exec ${nap}`);
  const { output } = await untilPrinted(id, "\\d+\\n");
  const zombie = Number(output);
  await waitFor("the zombie", () => readState(zombie) === "Z");
  const list = async () =>
    (await tools.call("process_list", {})).processes.find((entry) => entry.process_id === id);
  expect(await list()).toMatchObject({ running: true, descendants: 0 });
  expect(await signal(id, "kill", "10s")).toMatchObject({ success: true });
  expect(await list()).toMatchObject({ running: false, descendants: 0 });
});

test("after an exit its pid is nobody's to signal", async () => {
  const done = await tools.execute("echo $$");
  const { processes } = await tools.call("process_list", {});
  const entry = processes.find(({ pid }) => String(pid) === done.output.trim());
  expect(entry).toMatchObject({ running: false });
  expect(await signal(entry?.process_id, "kill")).toMatchObject({ signal_used: null });
  for (const process_id of [undefined, "1", "0", "-1", Number.NaN, "ses_x"])
    await expect(
      tools.call("process_signal", { process_id, signal: "kill" }),
    ).rejects.toMatchObject({ code: "invalid_request" });
});

test("interrupt stops what runs in the foreground, and a death by signal is named", async () => {
  const id = await background(`exec python3 -c 'import time
try:
    print("ready", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise SystemExit(9)'`);
  await untilPrinted(id, "ready");
  await signal(id, "interrupt");
  const read = await tools.call("process_wait", { process_id: id, timeout: "20s" });
  expect(read).toMatchObject({ exit_code: 9, output: "ready\ninterrupted\n" });
  const names = [
    ["hangup", "SIGHUP", 129],
    ["quit", "SIGQUIT", 131],
    ["usr1", "SIGUSR1", 138],
    ["usr2", "SIGUSR2", 140],
    ["kill", "SIGKILL", 137],
    ["terminate", "SIGTERM", 143],
  ] as const;
  for (const [name, used, exit_code] of names) {
    const nap = createNap();
    const other = await background(`exec ${nap}`);
    await waitFor(nap, () => findProcesses(nap).length === 1);
    expect(await signal(other, name, "20s")).toMatchObject({ signal_used: used });
    const end = await tools.call("process_wait", { process_id: other, timeout: "20s" });
    expect(end).toMatchObject({ success: false, exit_code, signal: used });
  }
});

test("without a terminal nothing waits for an answer", async () => {
  expect(await tools.execute("read x; echo $?")).toMatchObject({ output: "1\n" });
  expect(await tools.execute("read x </dev/tty")).toMatchObject({ exit_code: 1, running: false });
  expect(await tools.execute("readlink /proc/self/fd/0; tty")).toMatchObject({
    output: "/dev/null\nnot a tty\n",
  });
  using dir = openTempDir();
  const git = await tools.execute(
    "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty --edit -m x && git log --format=%s && git var GIT_EDITOR",
    { workdir: dir.path },
  );
  expect(git).toMatchObject({ exit_code: 0, output: "x\ntrue\n" });
  const env = await tools.execute(
    'echo "$TERM $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $NO_COLOR $DEBIAN_FRONTEND $REINS_AGENT"',
  );
  expect(env.output).toBe("dumb cat cat 0 1 noninteractive 1\n");
  const own = await tools.execute('echo "$PAGER $REINS_AGENT"', { env: { PAGER: "less" } });
  expect(own.output).toBe("less 1\n");
  await expect(tools.execute("true", { env: { REINS_AGENT: "0" } })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("REINS_AGENT"),
  });
});

test("a process with a terminal can be typed into; one that has exited takes nothing", async () => {
  const id = await background("read -p 'name? ' x; echo \"hello $x\"; cat; echo bye", {
    tty: true,
  });
  await untilPrinted(id, "name\\?");
  const type = (more: object) => tools.call("process_input", { process_id: id, ...more });
  expect(await type({ text: "ada", enter: true })).toMatchObject({ success: true });
  await untilPrinted(id, "hello ada");
  expect(await type({ eof: true })).toMatchObject({ success: true });
  const read = await tools.call("process_wait", { process_id: id, timeout: "20s" });
  expect(read).toMatchObject({ exit_code: 0 });
  expect(read.output).toContain("bye");
  expect(await type({ text: "x" })).toEqual({ success: false, message: "it has exited" });
  await expect(type({})).rejects.toMatchObject({ code: "invalid_request" });
  const nap = createNap();
  const pipe = await background(nap);
  await expect(tools.call("process_input", { process_id: pipe, text: "x" })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("tty"),
  });
  await signal(pipe, "kill", "10s");
});

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there yet.
    return undefined;
  }
}

function readState(pid: number): string | undefined {
  return /^\d+ \(.*\) (\S)/s.exec(tryRead(`/proc/${pid}/stat`) ?? "")?.[1];
}
