import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CALL_SILENT_MS } from "#agent/mcp/calls-in-flight.ts";
import { ANSWER_MS } from "#agent/mcp/connection.ts";
import { BACKOFF_MS, RESTARTS_MOST } from "#agent/mcp/lifecycle.ts";
import { GRACE_MS } from "#agent/mcp/stdio-transport.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  compileCache,
  openMcpToolset,
  pathOf,
  startMcpToolset,
  stdioServer,
  type TestMcp,
} from "#test/harness/mcp-toolset.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createToolContext } from "#test/harness/tool-context.ts";

const server = stdioServer("mcp-server-stdio");
const raw = (mode: string, ...more: string[]) => stdioServer("mcp-server-raw", [mode, ...more]);
/** For what a server has to be started many times. */
const frail = raw("frail");
/** One for the tests that only call tools which change nothing. */
let shared: Promise<TestMcp> | undefined;
const share = () => (shared ??= startMcpToolset({ server }));
afterAll(async () => await (await shared)?.[Symbol.asyncDispose]());

/** `odd.name` as a model may call it. */
const ODD = "files_odd_name_9dcb28a4";

test("a server's tools have its names, schemas and hints", async () => {
  const mcp = await share();
  expect(mcp.toolset).toMatchObject({
    name: "mcp",
    kind: "mcp",
    restartable: true,
    state: "ready",
    problem: undefined,
    instruction: "Echo before you leap.",
  });
  const tools = mcp.toolset.tools();
  expect(tools.find(({ name }) => name === "echo")).toEqual({
    name: "echo",
    description: "Says it again.",
    input_schema: expect.objectContaining({
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    }),
    hints: { read_only: true, destructive: false },
  });
  const hints = Object.fromEntries(tools.map(({ name, hints }) => [name, hints]));
  expect(hints.write).toEqual({ read_only: false, destructive: false });
  expect(hints.fail).toEqual({ read_only: false, destructive: true });
  expect(tools.map(({ input_schema }) => "$schema" in input_schema)).not.toContain(true);
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("a toolset that was given a name puts it before its tools', and has only those that are wanted", async () => {
  const tools = ["files_echo", ODD, "echo"];
  await using mcp = await startMcpToolset({ server, name: "files", tools });
  expect(mcp.names()).toEqual(["files_echo", ODD]);
  expect(await mcp.call("files_echo", { text: "hi" })).toEqual({ output: "hi" });
  expect(await mcp.call(ODD)).toEqual({ output: "odd" });
  expect(await mcp.call("files_fail")).toMatchObject({ is_error: true });
});

test("what a tool answers becomes text and images", async () => {
  const mcp = await share();
  expect(await mcp.call("fail")).toEqual({ output: "it did not work", is_error: true });
  expect(await mcp.call("silent")).toEqual({ output: "[the tool ended and said nothing]" });
  expect(await mcp.call("structured")).toEqual({ output: '{"n":7}' });
  const huge = await mcp.call("huge", { bytes: 2 * limits.tool_result_bytes });
  expect(Buffer.byteLength(huge.output)).toBeLessThanOrEqual(limits.tool_result_bytes);
  expect(huge.output).toMatch(/é\n\[cut: the whole text has 524288 bytes\]$/);
  const mixed = await mcp.call("mixed");
  expect(mixed.output.split("\n")).toEqual([
    "first",
    "[audio is not shown: about 3 bytes of audio/wav]",
    "[resource file:///a]",
    "inside a",
    "[resource file:///c is not shown: about 3 bytes of x/y]",
    "[resource d: file:///d]",
  ]);
  const image = { type: "image", media_type: "image/png", data_b64: expect.any(String) };
  expect(mixed.images).toEqual([image, image]);
  const pictures = await mcp.call("pictures", { count: 10 });
  expect(pictures).toMatchObject({ output: "[2 more images were left out]" });
  expect(pictures.images).toHaveLength(8);
});

test("what is wrong with a call is an answer", async () => {
  const mcp = await share();
  const wrong = await mcp.call("echo", { text: 7 });
  expect(wrong).toMatchObject({ output: expect.stringContaining("text"), is_error: true });
  expect(await mcp.call("nothing")).toEqual({
    output: "mcp has no tool nothing any more",
    is_error: true,
  });
  expect(mcp.toolset.state).toBe("ready");
});

test("a tool that comes later is told and can be called", async () => {
  await using mcp = await startMcpToolset({ server });
  const before = mcp.states.length;
  await mcp.call("learn", { name: "late" });
  await waitFor("the new tool", () => mcp.names().includes("late"));
  expect(mcp.states.slice(before)).toEqual(["ready"]);
  expect(await mcp.call("late")).toEqual({ output: "late it is" });
});

test("a server that crashes is started again by the next call, with its tools", async () => {
  await using mcp = await startMcpToolset({ server: frail });
  const { output, is_error } = await mcp.call("crash");
  expect({ output, is_error }).toEqual({
    output: `${process.execPath} ended with exit code 7; it said: out of luck`,
    is_error: true,
  });
  expect(mcp.toolset).toMatchObject({
    state: "stopped",
    problem: `${output}; the next use starts it again`,
  });
  expect(mcp.names()).toContain("echo");
  expect(await mcp.call("echo", { text: "back" })).toEqual({ output: "back" });
  expect(mcp.toolset).toMatchObject({ state: "ready", problem: undefined });
  expect(mcp.states).toEqual(["starting", "ready", "stopped", "starting", "ready"]);
});

test("a server that crashes again and again is given up until it is restarted", async () => {
  const clock = new ManualClock();
  await using mcp = await startMcpToolset({ server: frail, clock });
  await mcp.call("crash");
  for (let failures = 1; failures < RESTARTS_MOST; failures += 1) {
    const again = mcp.call("crash");
    const pause = BACKOFF_MS * 2 ** (failures - 1);
    await waitFor("the pause", () => clock.timers === 1);
    clock.advance(pause - 1);
    expect(mcp.toolset.state).toBe("stopped");
    clock.advance(1);
    await again;
  }
  expect(mcp.toolset.state).toBe("failed");
  expect(mcp.toolset.problem).toMatch(/it said: out of luck; that was the 5th time in a row$/);
  expect(mcp.names()).toEqual([]);
  expect(await mcp.call("echo", { text: "hi" })).toMatchObject({
    output: expect.stringMatching(/^mcp does not run: .*out of luck/),
    is_error: true,
  });
  await mcp.toolset.restart();
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("an answer makes a server that crashed as good as new", async () => {
  const clock = new ManualClock();
  await using mcp = await startMcpToolset({ server: frail, clock });
  for (let crashes = 0; crashes <= RESTARTS_MOST; crashes += 1) {
    await mcp.call("crash");
    clock.advance(BACKOFF_MS);
    expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
  }
});

test("a program that is installed later works after a restart", async () => {
  using dir = openTempDir();
  const env = { PATH: `${dir.path}:${pathOf()}` };
  const { args } = server;
  await using mcp = await startMcpToolset({ env, server: { ...server, command: "late-mcp" } });
  expect(mcp.toolset).toMatchObject({
    state: "failed",
    problem: "late-mcp cannot be started: there is no such program",
  });
  expect(mcp.names()).toEqual([]);
  expect(await mcp.call("echo", { text: "hi" })).toMatchObject({ is_error: true });
  const program = join(dir.path, "late-mcp");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
  chmodSync(program, 0o755);
  expect(args).toHaveLength(1);
  await Promise.all([mcp.toolset.restart(), mcp.toolset.restart()]);
  expect(mcp.toolset.state).toBe("ready");
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("a server that ends at once has failed, with its code and what it said, secrets excluded", async () => {
  const env = { PATH: pathOf(), LICENSE: "a-secret-license" };
  const { args, ...rest } = raw("leaves", "a-secret-license");
  await using mcp = await startMcpToolset({
    env,
    server: { ...rest, args, env: { KEY: `\${LICENSE}` } },
  });
  expect(mcp.toolset).toMatchObject({
    state: "failed",
    problem: `${process.execPath} ended with exit code 3; it said: no license for ***`,
  });
});

test("a server that never answers has failed after a while, and nothing of it is left", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  await using mcp = openMcpToolset({ server: raw("wedged", dir.path), clock });
  const started = mcp.toolset.start();
  await waitFor("it runs", () => findProcesses(dir.path).length > 0);
  await waitFor("it is waited for", () => clock.timers === 1);
  clock.advance(ANSWER_MS - 1);
  expect(mcp.toolset.state).toBe("starting");
  clock.advance(1);
  await settle(started, clock);
  expect(mcp.toolset.state).toBe("failed");
  expect(mcp.toolset.problem).toContain("has not answered within 30 s");
  // The clock of the test may be faster than the kernel.
  await waitFor("its end", () => findProcesses(dir.path).length === 0);
});

test("a start that is waited for ends with the toolset", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  const mcp = openMcpToolset({ server: raw("wedged", dir.path), clock });
  const started = mcp.toolset.start();
  await waitFor("it runs", () => findProcesses(dir.path).length > 0);
  await settle(mcp.toolset[Symbol.asyncDispose](), clock);
  await started;
  expect(mcp.toolset).toMatchObject({ state: "stopped", problem: undefined });
  // The clock of the test may be faster than the kernel.
  await waitFor("its end", () => findProcesses(dir.path).length === 0);
});

test("a restart that is waited for ends with the toolset, not with the server's time to answer", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  const mcp = openMcpToolset({ server: raw("wedged", dir.path), clock });
  const restarted = mcp.toolset.restart();
  await waitFor("it runs", () => findProcesses(dir.path).length > 0);
  await settle(mcp.toolset[Symbol.asyncDispose](), clock);
  await restarted;
  expect(mcp.states).not.toContain("failed");
  // The clock of the test may be faster than the kernel.
  await waitFor("its end", () => findProcesses(dir.path).length === 0);
});

test("what is no message on stdout is passed over", async () => {
  await using mcp = await startMcpToolset({ server: stdioServer("mcp-server-stdio", ["noisy"]) });
  expect(mcp.toolset.state).toBe("ready");
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("a message without an end is the end of the server", async () => {
  await using mcp = await startMcpToolset({ server: raw("flood") });
  const { output } = await mcp.call("good");
  expect(output).toContain("a message of more than 8388608 bytes");
  expect(mcp.toolset.state).toBe("stopped");
});

test("a list without an end is read as far as there is room for it", async () => {
  await using mcp = await startMcpToolset({ server: raw("endless") });
  expect(mcp.names()).toHaveLength(limits.tools_per_agent);
  expect(await mcp.call("t1_0")).toEqual({ output: "done after 25 pages" });
});

test("a list without an end and without tools is given up", async () => {
  await using mcp = await startMcpToolset({ server: raw("hollow") });
  expect(mcp.names()).toEqual(["good"]);
  expect(await mcp.call("good")).toEqual({ output: "done after 100 pages" });
});

test("tools that change while they are first listed are listed again", async () => {
  await using mcp = await startMcpToolset({ server: raw("restless") });
  await waitFor("the new tool", () => mcp.names().includes("better"));
  expect(mcp.states).toEqual(["starting", "ready", "ready"]);
});

test("a tool that is not understood is left out, and long names stay apart", async () => {
  await using mcp = await startMcpToolset({ server: raw("bad") });
  const long = `${"l".repeat(55)}_`;
  expect(mcp.names()).toEqual(["good", expect.any(String), expect.any(String)]);
  expect(mcp.names()[1]).toMatch(new RegExp(`^${long}[0-9a-f]{8}$`));
  expect(new Set(mcp.names()).size).toBe(3);
  expect(await mcp.call(mcp.names()[2] ?? "")).toEqual({ output: "done after 1 pages" });
});

test("a call that is interrupted is cancelled at the server, and says what it does until then", async () => {
  using dir = openTempDir();
  const mcp = await share();
  const context = createToolContext();
  const cancelled = join(dir.path, "cancelled");
  const waiting = mcp.call("wait", { cancelled }, context);
  await waitFor("the progress", () => context.reports.length > 0);
  expect(context.reports).toEqual(["waiting"]);
  context.interrupt();
  expect(await waiting).toMatchObject({
    output: expect.stringMatching(/^interrupted/),
    is_error: true,
  });
  await waitFor("the server has heard of it", () => existsSync(cancelled));
  expect(mcp.toolset.state).toBe("ready");
  expect(await mcp.call("echo", { text: "hi" }, context)).toMatchObject({
    output: expect.stringMatching(/^interrupted/),
  });
});

test("a call of which nothing is heard is given up", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  await using mcp = await startMcpToolset({ server, clock });
  const context = createToolContext();
  const cancelled = join(dir.path, "cancelled");
  const waiting = mcp.call("wait", { cancelled }, context);
  await waitFor("the progress", () => context.reports.length > 0);
  clock.advance(CALL_SILENT_MS);
  expect(await waiting).toMatchObject({
    output: "nothing was heard of the call for 10 minutes; it was cancelled",
    is_error: true,
  });
  await waitFor("the server has heard of it", () => existsSync(cancelled));
});

test("a question of the server is asked by the call in flight, for as long as it takes", async () => {
  const clock = new ManualClock();
  await using mcp = await startMcpToolset({ server, clock });
  const { promise: answer, resolve } = Promise.withResolvers<{
    action: "accept";
    content: { ok: boolean };
  }>();
  const questions: unknown[] = [];
  const asked = mcp.call(
    "ask",
    { about: "this" },
    {
      ...createToolContext(),
      elicit: (question) => {
        questions.push(question);
        return answer;
      },
    },
  );
  await waitFor("the question", () => questions.length > 0);
  expect(questions).toEqual([
    {
      message: "What about this?",
      schema: { type: "object", properties: { ok: { type: "boolean" } } },
    },
  ]);
  clock.advance(10 * CALL_SILENT_MS);
  resolve({ action: "accept", content: { ok: true } });
  expect(await asked).toEqual({ output: '{"action":"accept","content":{"ok":true}}' });
});

test("a question that is not answered says so, and one of several calls is declined", async () => {
  using dir = openTempDir();
  const mcp = await share();
  expect(await mcp.call("ask", { about: "it" })).toEqual({ output: '{"action":"cancel"}' });
  const context = createToolContext();
  const waiting = mcp.call("wait", { cancelled: join(dir.path, "cancelled") }, context);
  await waitFor("the progress", () => context.reports.length > 0);
  const other = createToolContext({ action: "accept" });
  expect(await mcp.call("ask", { about: "it" }, other)).toEqual({ output: '{"action":"decline"}' });
  expect([...context.questions, ...other.questions]).toEqual([]);
  context.interrupt();
  await waiting;
});

test("a server has the environment that it is given, filled in, and its work dir", async () => {
  using dir = openTempDir();
  const env = { PATH: pathOf(), TOKEN: "t0ken", HOME: dir.path };
  await using mcp = await startMcpToolset({
    env,
    server: {
      ...server,
      env: { ...compileCache(), AUTH: `Bearer \${TOKEN}`, PLAIN: "$TOKEN" },
      work_dir: "~",
    },
  });
  const read = async (name: string) => (await mcp.call("env", { name })).output;
  expect(await read("AUTH")).toBe("Bearer t0ken");
  expect(await read("PLAIN")).toBe("$TOKEN");
  expect(await read("TOKEN")).toBe("t0ken");
  expect(await read("VITEST")).toBe("unset");
  expect(await mcp.call("where")).toEqual({ output: dir.path });
});

test.each([
  [{ env: { A: `\${MISSING}` } }, "A needs the variable MISSING, which is not set"],
  [{ env: { A: `\${env:HOME}` } }, `A has \${env:HOME}; a variable is written \${NAME}`],
  [{ work_dir: "/nowhere/at/all" }, "its work dir /nowhere/at/all does not exist"],
  [{ command: "/dev/null" }, "it may not be run"],
])("what cannot be started says why: %j", async (wrong, why) => {
  await using mcp = await startMcpToolset({ server: { ...server, ...wrong } });
  expect(mcp.toolset.state).toBe("failed");
  expect(mcp.toolset.problem).toContain(why);
});

test("prompts are listed and become text", async () => {
  await using mcp = await startMcpToolset({ server, name: "files" });
  expect(await mcp.toolset.prompts()).toEqual([
    {
      name: "greet",
      toolset: "files",
      description: "Says hello.",
      arguments: [
        { name: "who", description: "", required: true },
        { name: "how", description: "", required: false },
      ],
    },
    { name: "broken", toolset: "files", description: "", arguments: [] },
  ]);
  expect(await mcp.toolset.runPrompt("greet", { who: "Ada" })).toBe("Hello, Ada.\n\nHello.");
  expect(await mcp.toolset.runPrompt("nothing", {})).toBeUndefined();
  await expect(mcp.toolset.runPrompt("greet", {})).rejects.toMatchObject({
    code: "invalid_request",
    message: "the prompt greet needs who",
  });
  await expect(mcp.toolset.runPrompt("broken", {})).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("this prompt is broken"),
  });
});

test("a server that has failed has no prompts", async () => {
  await using mcp = await startMcpToolset({ server: raw("leaves") });
  expect(await mcp.toolset.prompts()).toEqual([]);
  expect(await mcp.toolset.runPrompt("greet", { who: "Ada" })).toBeUndefined();
});

test("a server that speaks only the newest revision is understood", async () => {
  const modern = stdioServer("mcp-server-stdio", ["modern"]);
  await using mcp = await startMcpToolset({ server: modern });
  expect(mcp.toolset).toMatchObject({ state: "ready", problem: undefined });
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
  await mcp.call("learn", { name: "late" });
  await waitFor("the new tool", () => mcp.names().includes("late"));
});

test.each([
  ["ended", (mcp: TestMcp) => mcp[Symbol.asyncDispose]()],
  ["restarted", (mcp: TestMcp) => mcp.toolset.restart()],
  ["killed", (mcp: TestMcp) => mcp.call("crash")],
])("a server that is %s takes along what it started", async (_how, end) => {
  await using mcp = await startMcpToolset({ server });
  const pid = Number((await mcp.call("spawn")).output);
  expect(isAlive(pid)).toBe(true);
  await end(mcp);
  await waitFor("the child's end", () => !isAlive(pid));
});

test("a toolset that was disposed is over", async () => {
  const mcp = await startMcpToolset({ server });
  await Promise.all([mcp[Symbol.asyncDispose](), mcp[Symbol.asyncDispose]()]);
  await mcp.toolset.start();
  expect(mcp.toolset.state).toBe("stopped");
  expect(await mcp.call("echo", { text: "hi" })).toEqual({
    output: "mcp does not run: it was ended",
    is_error: true,
  });
});

/** Lets the graces pass in which a server is asked to end. */
async function settle(ending: PromiseLike<void>, clock: ManualClock): Promise<void> {
  let isOver = false;
  const over = ending.then(() => {
    isOver = true;
  });
  await waitFor("the end", () => {
    clock.advance(GRACE_MS);
    return isOver;
  });
  await over;
}
