import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { tools } from "#contract/tools/tools.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { connect } from "./testing/connect.ts";

const ID = "ses_0123456789abcdef";
const done = { success: true, output: "hi\n", exit_code: 0, running: false, wall_duration_ms: 120 };

test("lists every tool with its description, its schemas and what it may do", async () => {
  await using served = await connect({});
  const { tools: listed } = await served.client.listTools();
  expect(listed.map(({ name }) => name)).toEqual(Object.keys(tools));
  for (const { name, description, inputSchema, outputSchema, annotations } of listed) {
    expect(description).toBe(tools[name as keyof typeof tools].description);
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(annotations?.title).toMatch(/^[A-Z]/);
  }
});

test.each([
  ["execute", false, true, false, true],
  ["process_output", true, false, true, false],
  ["process_wait", true, false, true, false],
  ["process_list", true, false, true, false],
  ["process_signal", false, true, true, false],
  ["process_input", false, true, false, true],
  ["terminal_open", false, true, false, true],
  ["terminal_type", false, true, false, true],
  ["terminal_screen", true, false, true, false],
  ["terminal_wait", true, false, true, false],
  ["terminal_close", false, true, true, false],
  ["session_list", true, false, true, false],
  ["session_read", true, false, true, false],
  ["session_send", false, true, false, true],
  ["session_wait", true, false, true, false],
])("%s is read-only: %s, destructive: %s, idempotent: %s, open: %s", async (name, ...hints) => {
  await using served = await connect({});
  const { tools: listed } = await served.client.listTools();
  const found = listed.find((tool) => tool.name === name)?.annotations;
  expect([
    found?.readOnlyHint,
    found?.destructiveHint,
    found?.idempotentHint,
    found?.openWorldHint,
  ]).toEqual(hints);
});

test("a call is parsed, so a duration is milliseconds, and answered as data and as text", async () => {
  const given: unknown[] = [];
  await using served = await connect({
    execute: async (input) => {
      given.push(input);
      return done;
    },
  });
  const result = await served.client.callTool({
    name: "execute",
    arguments: { command: "echo hi", timeout: "1h5m" },
  });
  expect(given).toEqual([{ command: "echo hi", timeout: 3_900_000 }]);
  expect(result.structuredContent).toEqual(done);
  expect(result.content).toEqual([{ type: "text", text: "hi\n[exit code 0 after 0.1 s]" }]);
  expect(result.isError).toBeUndefined();
});

test("the client is known by the name that it gave", async () => {
  await using served = await connect({ process_list: async () => ({ processes: [], omitted: 0 }) });
  await served.client.callTool({ name: "process_list", arguments: {} });
  expect(served.clients).toEqual(["editor"]);
});

test.each([
  ["execute", {}, /^invalid_request: command: /],
  ["execute", { command: "  " }, /^invalid_request: command: the command is empty$/],
  ["execute", { command: "x", timeout: -1 }, /^invalid_request: timeout: a duration is a number/],
  ["execute", { command: "x", timeout: "soon" }, /^invalid_request: timeout: a duration/],
  ["execute", { command: "x", surprise: 1 }, /^invalid_request: .*surprise/],
  ["process_signal", { process_id: ID, signal: "SIGFOO" }, /^invalid_request: signal: /],
  ["process_output", { process_id: "7" }, /^invalid_request: process_id: /],
])("%s of %j is an answer that says what is wrong", async (name, input, text) => {
  await using served = await connect({});
  const result = await served.client.callTool({ name, arguments: input });
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(text) }],
    _meta: { "reins/fault": { code: "invalid_request", details: { issues: expect.any(Array) } } },
  });
  expect(served.logged).toEqual([]);
});

test("a fault is an answer with its code, its sentence and its details", async () => {
  const details = { process_id: ID };
  await using served = await connect({
    process_output: () =>
      Promise.reject(new Fault("process_not_found", `there is no process ${ID}`, { details })),
  });
  const result = await served.client.callTool({
    name: "process_output",
    arguments: { process_id: ID },
  });
  const message = `there is no process ${ID}`;
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: "text", text: `process_not_found: ${message}` }],
    _meta: { "reins/fault": { code: "process_not_found", message, details } },
  });
  expect(result.structuredContent).toBeUndefined();
});

test("the words of a bug stay inside, and in the log", async () => {
  await using served = await connect({
    process_list: () => Promise.reject(new Error("secret inner words")),
  });
  const result = await served.client.callTool({ name: "process_list", arguments: {} });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain("internal: something went wrong inside Reins");
  expect(JSON.stringify(result)).not.toContain("secret");
  expect(served.logged).toMatchObject([
    { message: "a tool failed", fields: { tool: "process_list" } },
  ]);
});

test("an answer that is not what the tool promises is a bug", async () => {
  // More than the schema knows, as only a mistake would give it.
  const wrong = { ...done, secret: 1 };
  await using served = await connect({ execute: async () => wrong });
  const result = await served.client.callTool({ name: "execute", arguments: { command: "x" } });
  expect(result).toMatchObject({ isError: true, _meta: { "reins/fault": { code: "internal" } } });
  expect(JSON.stringify(result)).not.toContain("secret");
});

test("an unknown tool is refused by the protocol", async () => {
  await using served = await connect({});
  const call = served.client.callTool({ name: "rm_rf", arguments: {} });
  await expect(call).rejects.toThrow("rm_rf");
});

test("cancelling a call aborts its wait", async () => {
  const waits: AbortSignal[] = [];
  await using served = await connect({ process_wait: (_, options) => forever(waits, options) });
  const cancel = new AbortController();
  const call = served.client.callTool(
    { name: "process_wait", arguments: { process_id: ID } },
    { signal: cancel.signal },
  );
  call.catch(() => undefined);
  await waitFor("the call waits", () => waits.length === 1);
  expect(waits[0]?.aborted).toBe(false);
  cancel.abort();
  await expect(call).rejects.toThrow();
  await waitFor("the wait is over", () => waits[0]?.aborted);
  expect(served.logged).toEqual([]);
});

test("what ends a server's waits is what its calls answer", async () => {
  const waits: AbortSignal[] = [];
  const ending = new AbortController();
  await using served = await connect(
    { process_wait: (_, options) => forever(waits, options) },
    { signal: ending.signal },
  );
  const call = served.client.callTool({ name: "process_wait", arguments: { process_id: ID } });
  await waitFor("the call waits", () => waits.length === 1);
  ending.abort(new Fault("shutting_down", "the server stops"));
  expect(await call).toMatchObject({
    isError: true,
    content: [{ text: "shutting_down: the server stops" }],
  });
});

test("who asked for progress hears every few seconds that the call still waits", async () => {
  const waits: AbortSignal[] = [];
  const ending = Promise.withResolvers<void>();
  await using served = await connect({
    execute: async (_, options) => {
      if (options?.signal !== undefined) waits.push(options.signal);
      await ending.promise;
      return done;
    },
  });
  const heard: unknown[] = [];
  const call = served.client.callTool(
    { name: "execute", arguments: { command: "make" } },
    { onprogress: (progress) => void heard.push(progress) },
  );
  await waitFor("the call waits", () => waits.length === 1);
  served.clock.advance(2999);
  served.clock.advance(6001);
  await waitFor("progress is told", () => heard.length === 3);
  expect(heard).toEqual(
    [3, 6, 9].map((s) => ({ progress: s, message: `execute still waits after ${s} s` })),
  );
  ending.resolve();
  await call;
  expect(served.clock.timers).toBe(0);
});

test("who did not ask hears nothing before the answer", async () => {
  await using served = await connect({
    execute: async () => {
      served.clock.advance(60_000);
      return done;
    },
  });
  await served.client.callTool({ name: "execute", arguments: { command: "make" } });
  expect(served.clock.timers).toBe(0);
});

function forever(waits: AbortSignal[], options?: { readonly signal?: AbortSignal }) {
  const { promise, reject } = Promise.withResolvers<never>();
  const { signal } = options ?? {};
  if (signal === undefined) throw new Error("no signal was given");
  waits.push(signal);
  signal.addEventListener("abort", () => reject(signal.reason));
  return promise;
}
