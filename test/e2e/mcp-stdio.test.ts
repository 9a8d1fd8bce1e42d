import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tools } from "#contract/tools/tools.ts";
import { readFile } from "#test/arch/sources.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import {
  type Era,
  openStdioMcp,
  type StdioMcp,
  type StdioSetting,
  textOf,
} from "#test/harness/mcp.ts";
import { binPath } from "#test/harness/packaged.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import type { Reins } from "#test/harness/reins.ts";

const { lease } = keepReins();

const eras: readonly Era[] = ["legacy", "modern"];
const UNKNOWN = "ses_0123456789abcdef";

test.each(eras)("a client of the %s protocol lists and calls every tool", async (era) => {
  await using reins = await lease();
  await using mcp = await openStdioMcp(reins, { era });
  const listed = (await mcp.client.listTools()).tools.map(({ name }) => name);
  expect(listed).toEqual(Object.keys(tools));
  expect(
    await mcp.call("execute", { command: "pwd; echo $REINS_AGENT $REINS_HOME" }),
  ).toMatchObject({
    success: true,
    output: `${reins.path}\n1 ${reins.home}\n`,
    exit_code: 0,
    running: false,
  });
  const { output } = await mcp.call("execute", { command: "env | grep -o ^REINS_[A-Z_]* | sort" });
  const documented = new Set(readFile("docs/mcp.md").match(/(?<=`)REINS_[A-Z_]+(?=[=`])/g));
  expect(output.trim().split("\n")).toEqual([...documented].sort());
  const { background_process_id: process_id = "" } = await mcp.call("execute", {
    command: "read line; echo got $line; exit 3",
    tty: true,
    run_in_background: true,
  });
  expect(await mcp.call("process_list", { running: true })).toMatchObject({
    processes: [{ process_id, running: true }],
  });
  expect(await mcp.call("process_input", { process_id, text: "it", enter: true })).toMatchObject({
    success: true,
  });
  expect(await mcp.call("process_wait", { process_id, timeout: "30s" })).toMatchObject({
    exit_code: 3,
    output: expect.stringContaining("got it"),
  });
  expect(await mcp.call("process_output", { process_id })).toMatchObject({ running: false });
  expect(await mcp.call("process_signal", { process_id, signal: "kill" })).toMatchObject({
    signal_used: null,
  });
});

test("a client drives a terminal and looks at sessions, and what is refused is an answer that names the fault", async () => {
  await using reins = await lease();
  await using mcp = await openStdioMcp(reins);
  await expectRefusals(mcp);
  expect(await reins.sessions()).toEqual([]);
  const { terminal_id } = await mcp.call("terminal_open", { command: "cat" });
  const typed = await mcp.call("terminal_type", { terminal_id, text: "hello", keys: ["enter"] });
  expect(typed.screen).toBe("hello\nhello");
  expect(await mcp.call("terminal_screen", { terminal_id })).toMatchObject({
    screen: "hello\nhello",
    cursor: { row: 2, col: 0 },
  });
  const waited = { terminal_id, for: "text", text: "hello", timeout: "10s" };
  expect(await mcp.call("terminal_wait", waited)).toMatchObject({ matched: true });
  const session_id = terminal_id;
  const { sessions } = await mcp.call("session_list", { running: true });
  expect(sessions.map((session) => session.session_id)).toEqual([session_id]);
  expect(await mcp.call("session_send", { session_id, text: "again", enter: true })).toMatchObject({
    success: true,
  });
  const question = { session_id, for: "text", text: "again", timeout: "10s" };
  expect(await mcp.call("session_wait", question)).toMatchObject({ matched: true });
  expect((await mcp.call("session_read", { session_id })).output).toContain("again");
  expect(await mcp.call("terminal_close", { terminal_id })).toMatchObject({ success: true });
});

async function expectRefusals(mcp: StdioMcp): Promise<void> {
  const process_id = UNKNOWN;
  expect(await mcp.refused("process_output", { process_id })).toMatch(/^process_not_found: /);
  expect(await mcp.refused("process_wait", { process_id })).toMatch(/^process_not_found: /);
  expect(await mcp.refused("terminal_screen", { terminal_id: UNKNOWN })).toMatch(/_not_found: /);
  expect(await mcp.refused("session_read", { session_id: UNKNOWN })).toMatch(
    /^session_not_found: /,
  );
  const bad = [
    { command: "" },
    { command: "true", timeout: "soon" },
    { command: "true", timeout: -1 },
  ];
  for (const input of bad)
    expect(await mcp.refused("execute", input)).toMatch(/^invalid_request: (command|timeout): /);
  const signal = "SIGWHAT";
  expect(await mcp.refused("process_signal", { process_id, signal })).toMatch(/^invalid_request: /);
  await expect(mcp.client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow("nothing");
}

test("a host that cannot be reached is an answer, and a later call finds the next one", async () => {
  await using reins = await lease();
  // By this path it would start a host.
  const bin = join(reins.path, "reins");
  symlinkSync(binPath, bin);
  await using mcp = await openStdioMcp(reins, { bin });
  const command = "echo here";
  expect((await mcp.call("execute", { command })).output).toBe("here\n");
  rmSync(bin);
  const pid = (await reins.hostPid()) ?? 0;
  process.kill(pid, "SIGKILL");
  await waitFor("the host is gone", () => !isAlive(pid));
  expect(await mcp.refused("execute", { command })).toMatch(/^host_unavailable: /);
  expect(await mcp.refused("process_list", {})).toMatch(/^host_unavailable: /);
  symlinkSync(binPath, bin);
  expect((await mcp.call("execute", { command })).output).toBe("here\n");
});

test("a long wait tells that it still waits; cancelling it frees the wait, and the process goes on", async () => {
  await using reins = await lease();
  await using mcp = await openStdioMcp(reins);
  const heard: unknown[] = [];
  const cancel = new AbortController();
  const command = `while [ ! -e ${reins.path}/go ]; do sleep 0.1; done; echo went on`;
  const start = (options: { readonly signal?: AbortSignal }) =>
    mcp.client.callTool(
      { name: "execute", arguments: { command, timeout: "1h" } },
      { ...options, onprogress: (progress) => void heard.push(progress) },
    );
  const kept = start({});
  await waitFor("progress is told", () => heard.length > 0);
  expect(heard[0]).toMatchObject({ message: expect.stringContaining("execute still waits") });
  const before = (await mcp.call("process_list", { running: true })).processes;
  const call = start({ signal: cancel.signal });
  call.catch(() => undefined);
  const process_id = await waitFor("the second runs", async () => {
    const { processes } = await mcp.call("process_list", { running: true });
    return processes.find((found) => found.process_id !== before[0]?.process_id)?.process_id;
  });
  cancel.abort();
  await expect(call).rejects.toThrow();
  const { processes } = await mcp.call("process_list", { running: true });
  expect(processes).toMatchObject(Array(2).fill({ command, running: true }));
  await mcp.call("execute", { command: "touch go" });
  expect(await mcp.call("process_wait", { process_id, timeout: "30s" })).toMatchObject({
    output: "went on\n",
    exit_code: 0,
  });
  expect(textOf(await kept)).toMatch(/^went on\n\[exit code 0 after /);
});

test("after kill -9 the next server of the same owner has the process, its output and its exit code, and no other owner knows of it", async () => {
  await using reins = await lease();
  const process_id = await startAndKill(reins, []);
  const adas = await startAndKill(reins, ["--owner", "ada"]);
  // Another by its name, and without one by the client's name or the directory.
  const strangers: readonly StdioSetting[] = [
    { args: ["--owner", "bob"] },
    { name: "other-client" },
    { cwd: join(reins.path, "user") },
  ];
  for (const stranger of strangers) {
    await using mcp = await openStdioMcp(reins, stranger);
    expect((await mcp.call("process_list", {})).processes).toEqual([]);
    await expectUnknown(mcp, process_id);
    await expectUnknown(mcp, adas);
  }
  {
    await using ada = await openStdioMcp(reins, { args: ["--owner", "ada"], name: "other-client" });
    expect((await ada.call("process_list", {})).processes).toMatchObject([{ process_id: adas }]);
    await expectUnknown(ada, process_id);
  }
  // Whichever protocol the client speaks.
  await using next = await openStdioMcp(reins, { era: "modern" });
  expect(await next.call("process_list", {})).toMatchObject({
    processes: [{ process_id, running: true, background: true }],
  });
  await expectUnknown(next, adas);
  await next.call("execute", { command: "touch go" });
  expect(await next.call("process_wait", { process_id, timeout: "30s" })).toMatchObject({
    output: "before\nafter\n",
    exit_code: 7,
    running: false,
  });
});

async function expectUnknown(mcp: StdioMcp, process_id: string): Promise<void> {
  expect(await mcp.refused("process_output", { process_id })).toBe(
    `process_not_found: there is no process ${process_id}`,
  );
  expect(await mcp.refused("process_signal", { process_id, signal: "kill" })).toContain(
    "no process",
  );
}

/** A process in the background whose server is gone; it ends with 7 once there is a file `go`. */
async function startAndKill(reins: Reins, args: readonly string[]): Promise<string> {
  await using mcp = await openStdioMcp(reins, { args });
  const { background_process_id } = await mcp.call("execute", {
    command: `echo before; while [ ! -e ${reins.path}/go ]; do sleep 0.1; done; echo after; exit 7`,
    run_in_background: true,
  });
  const process_id = background_process_id ?? "";
  await mcp.call("process_output", { process_id, wait_for: "output", wait: "30s" });
  process.kill(mcp.pid, "SIGKILL");
  await waitFor("the server is gone", () => !isAlive(mcp.pid));
  return process_id;
}

test("a server whose client closes it ends, and what it has started goes on", async () => {
  await using reins = await lease();
  const command = `sleep 98${process.pid}`;
  const mcp = await openStdioMcp(reins);
  await mcp.call("execute", { command, run_in_background: true });
  await mcp[Symbol.asyncDispose]();
  await waitFor("the server is gone", () => !isAlive(mcp.pid));
  expect(findProcesses(command)).not.toEqual([]);
});
