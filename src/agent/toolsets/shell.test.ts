import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type HostTools, openHostTools } from "#test/harness/host-tools.ts";
import { createNap } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { type CallToolset, callerOf, createToolContext } from "#test/harness/tool-context.ts";
import { createShellToolset } from "./shell.ts";

const timeout = 30_000;
const stack = new AsyncDisposableStack();
let world: HostTools;
let call: CallToolset;
beforeAll(async () => {
  world = stack.use(await openHostTools());
  call = callerOf(open());
}, timeout);
afterAll(() => stack.disposeAsync());

function open(timeout_ms?: number, tools: Partial<Tools> = {}) {
  return createShellToolset(
    { type: "shell", name: "shell", tools: undefined, instruction: undefined, timeout_ms },
    {
      tools: { ...world.tools, ...tools },
      clock: systemClock,
      log: silentLogger,
      hasTool: () => false,
    },
  );
}

test("a command's output comes first, then how it ended", async () => {
  const { output, is_error } = await call("execute", { command: "echo hi; exit 3" });
  expect(output).toMatch(/^hi\n\[exit code 3 after \d+\.\d s\]$/);
  expect(is_error).toBeUndefined();
});

test("the tools that only look may be asked again and again", () => {
  const polling = open()
    .tools()
    .filter((tool) => tool.polling === true);
  expect(polling.map(({ name }) => name)).toEqual([
    "process_output",
    "process_wait",
    "process_list",
  ]);
});

test("a background process is listed, read, waited for and signalled by its id", async () => {
  const { output } = await call("execute", { command: "cat", tty: true, run_in_background: true });
  const process_id = /background_process_id: (ses_\w+)/.exec(output)?.[1];
  expect(output).toMatch(/^\[still running after /);
  expect((await call("process_list", {})).output).toContain(`${process_id} running`);
  expect(await call("process_input", { process_id, text: "hello", enter: true })).toMatchObject({
    is_error: false,
  });
  const read = await call("process_output", { process_id, pattern: "hello\\s+hello" });
  expect(read.output).toMatch(/hello[\s\S]*\[next_offset: \d+\]/);
  const ended = await call("process_signal", { process_id, signal: "kill", escalate_after: "5s" });
  expect(ended).toEqual({ output: "ended by SIGKILL", is_error: false });
  expect((await call("process_wait", { process_id })).output).toContain("exit code 137");
  expect((await call("process_list", {})).output).toContain("with exit code 137 by SIGKILL");
});

test("the wait of the team file holds where the model says none", { timeout }, async () => {
  const brief = open(200);
  expect(brief.tools()[0]?.description).toContain("200ms");
  const { output } = await callerOf(brief)("execute", { command: createNap() });
  expect(output).toContain("command timed out after 200ms");
  const process_id = /background_process_id: (ses_\w+)/.exec(output)?.[1];
  await call("process_signal", { process_id, signal: "kill", escalate_after: "5s" });
  const patient = await callerOf(brief)("execute", { command: "sleep 0.5", timeout: "20s" });
  expect(patient.output).toContain("exit code 0");
});

test("an interrupted command ends with everything that it started", { timeout }, async () => {
  const nap = createNap();
  const context = createToolContext();
  const running = call(
    "execute",
    { command: `echo begun; (setsid ${nap} &) ; ${nap}`, timeout: "1h" },
    context,
  );
  await waitFor("both naps", () => findProcesses(nap).length >= 2);
  context.interrupt();
  const { output, is_error } = await running;
  expect(is_error).toBe(true);
  expect(output).toMatch(/^begun\n[\s\S]*\[interrupted: the command and everything/);
  expect(findProcesses(nap)).toEqual([]);
});

test("a command that is interrupted while it is being started does not run on", async () => {
  const nap = createNap();
  const context = createToolContext();
  const running = call("execute", { command: nap, timeout: "1h" }, context);
  // The host has been asked, and has not answered yet.
  context.interrupt();
  expect(await running).toMatchObject({ is_error: true });
  expect(findProcesses(nap)).toEqual([]);
});

test("a background command whose start was interrupted does not run on", async () => {
  const nap = createNap();
  const context = createToolContext();
  const running = call("execute", { command: nap, run_in_background: true }, context);
  context.interrupt();
  expect(await running).toMatchObject({ is_error: true });
  expect(findProcesses(nap)).toEqual([]);
});

test("an interrupt before the call starts nothing", async () => {
  const context = createToolContext();
  context.interrupt();
  const marker = join(world.workDir, "ran");
  const outcome = await call("execute", { command: `touch ${marker}` }, context);
  expect(outcome).toMatchObject({ is_error: true, output: expect.stringMatching(/^interrupted/) });
  expect((await call("execute", { command: "ls" })).output).not.toContain("ran");
});

test("an interrupted wait leaves a process that an earlier call started", { timeout }, async () => {
  const nap = createNap();
  const { output } = await call("execute", { command: nap, run_in_background: true });
  const process_id = /background_process_id: (ses_\w+)/.exec(output)?.[1];
  await waitFor("the nap", () => findProcesses(nap).length === 1);
  const context = createToolContext();
  const waiting = call("process_wait", { process_id, timeout: "1h" }, context);
  context.interrupt();
  expect(await waiting).toMatchObject({ is_error: true });
  expect(findProcesses(nap)).toHaveLength(1);
  await call("process_signal", { process_id, signal: "kill", escalate_after: "5s" });
});

test("people see what a command prints while it runs, once each", { timeout }, async () => {
  const [first, second] = [join(world.workDir, "first"), join(world.workDir, "second")];
  const context = createToolContext();
  const until = (gate: string) => `until [ -e ${gate} ]; do sleep 0.05; done`;
  const command = `echo one; ${until(first)}; echo two; ${until(second)}; echo three`;
  const running = call("execute", { command, timeout: "20s" }, context);
  await waitFor("the first report", () => context.reports.join("").includes("one"));
  writeFileSync(first, "");
  await waitFor("the second report", () => context.reports.join("").includes("two"));
  writeFileSync(second, "");
  expect((await running).output).toMatch(/^one\ntwo\nthree\n/);
  expect(context.reports.join("").match(/one/g)).toHaveLength(1);
});

test("a command goes on when its output cannot be followed", { timeout }, async () => {
  const broken = open(undefined, { process_output: () => Promise.reject(new Error("no")) });
  const { output } = await callerOf(broken)("execute", { command: "sleep 1; echo done" });
  expect(output).toMatch(/^done\n\[exit code 0/);
});

test.each([
  ["execute", {}, /^invalid_request: command: /],
  ["execute", { command: " " }, /^invalid_request: command: the command is empty/],
  ["execute", { command: "x", surprise: 1 }, /surprise/],
  ["process_wait", { process_id: "7" }, /^invalid_request: process_id: /],
  ["process_wait", { process_id: "ses_0123456789abcdef" }, /^process_not_found: /],
  ["process_kill", {}, /^there is no tool process_kill in shell; it has execute, /],
])("%s of %j is an answer that says what is wrong", async (tool, input, text) => {
  expect(await call(tool, input)).toMatchObject({
    is_error: true,
    output: expect.stringMatching(text),
  });
});
