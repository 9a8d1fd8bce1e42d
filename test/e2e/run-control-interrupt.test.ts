import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { collect, eventsOf, nextEvent, runToEnd, say, scripted } from "#test/harness/runtimes.ts";

/** 8.10: an interrupt stops the run wherever it is, and leaves a history that goes on. */

const place = shareEmbeddedPlace();
const { create } = place;

const call = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
const GO_ON = { when: { last_user_contains: "Go on." }, text: "Here I am." };
const NEVER = { delay_ms: 600_000, text: "Never." };

/** The turn is over, once; every call has its result; and the next turn works. */
async function expectStopped(runtime: Runtime, running: Promise<AnyEvent[]>): Promise<AnyEvent[]> {
  const events = await running;
  expect(eventsOf(events, "turn.ended")).toEqual([
    expect.objectContaining({ reason: "interrupted" }),
  ]);
  const { messages } = await runtime.transcript();
  const called = messages.flatMap((each) =>
    each.role === "assistant" ? each.tool_calls.map(({ call_id }) => call_id) : [],
  );
  const answered = messages.flatMap((each) => (each.role === "tool" ? [each.call_id] : []));
  expect(answered.toSorted()).toEqual(called.toSorted());
  expect(await runtime.snapshot()).toMatchObject({
    activity: "idle",
    approvals: [],
    elicitations: [],
    partial: null,
  });
  expect(await runtime.interrupt()).toBe(false);
  const next = await runToEnd(runtime, "Go on.");
  expect(next.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
  return events;
}

const marker = (n: number) => `9${process.pid}${n}.25`;

describe("an interrupt", () => {
  test("in a model call ends it, and what was said stays", async () => {
    const slow = { deltas: ["One ", "two ", "three"], every_ms: 200_000 };
    await using runtime = await create(scripted([GO_ON, slow]));
    const running = runToEnd(runtime, "Count.");
    await nextEvent(runtime, "message.delta");
    expect(await runtime.interrupt()).toBe(true);
    await expectStopped(runtime, running);
    expect((await runtime.transcript()).messages[1]).toMatchObject({
      role: "assistant",
      text: "One ",
      interrupted: true,
    });
  });

  test("in a tool call ends the whole tree of it, also what left its group", async () => {
    const sleep = marker(1);
    const command = `setsid sleep ${sleep} & (sleep ${sleep} & sleep ${sleep}); wait`;
    const step = call("execute", { command, timeout: "10m" });
    const yaml = scripted([GO_ON, step], { toolsets: [{ type: "shell" }] });
    await using runtime = await create(yaml, { safety: "autonomous" });
    const running = runToEnd(runtime, "Run it.");
    await waitFor("the tree", () => findProcesses(`sleep ${sleep}`).length >= 3);
    await runtime.interrupt();
    expect(findProcesses(`sleep ${sleep}`)).toEqual([]);
    const events = await expectStopped(runtime, running);
    expect(eventsOf(events, "tool.result")[0]).toMatchObject({
      is_error: true,
      output: expect.stringContaining("interrupted"),
    });
  });

  test("of several calls stops the one that runs and does not make those behind it", async () => {
    const sleep = marker(2);
    const calls = [
      { tool: "execute", input: { command: `sleep ${sleep}`, timeout: "10m" } },
      { tool: "write_file", input: { path: "behind.txt", content: "x" } },
    ];
    const agent = { toolsets: [{ type: "shell" }, { type: "filesystem" }] };
    const yaml = scripted([GO_ON, { tool_calls: calls }], agent);
    await using runtime = await create(yaml, { safety: "autonomous" });
    const running = runToEnd(runtime, "Run them.");
    await waitFor("the first", () => findProcesses(`sleep ${sleep}`).length > 0);
    await runtime.interrupt();
    const results = eventsOf(await expectStopped(runtime, running), "tool.result");
    expect(results.map(({ tool }) => tool)).toEqual(["execute", "write_file"]);
    expect(results[1]?.output).toContain("not made");
    expect(existsSync(join(place.workDir, "behind.txt"))).toBe(false);
  });

  test("leaves what runs in the background on purpose", async () => {
    const sleep = marker(3);
    const start = call("execute", { command: `sleep ${sleep}`, run_in_background: true });
    const yaml = scripted([GO_ON, start, NEVER], { toolsets: [{ type: "shell" }] });
    await using runtime = await create(yaml, { safety: "autonomous" });
    const running = runToEnd(runtime, "Start it.");
    expect(await nextEvent(runtime, "tool.result")).toMatchObject({ is_error: false });
    await runtime.interrupt();
    await expectStopped(runtime, running);
    const pid = await waitFor("it to run", () => findProcesses(`sleep ${sleep}`)[0]);
    process.kill(pid, "SIGKILL");
  });

  test("while an approval is waited for is a result that the call was not made", async () => {
    const step = call("write_file", { path: "asked.txt", content: "x" });
    const yaml = scripted([GO_ON, step], { toolsets: [{ type: "filesystem" }] });
    await using runtime = await create(yaml);
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.interrupt();
    await expect(runtime.resume({ approval_id, decision: "approve" })).rejects.toMatchObject({
      code: "nothing_pending",
    });
    const events = await expectStopped(runtime, running);
    expect(eventsOf(events, "approval.resolved")).toEqual([
      expect.objectContaining({ decision: "reject", by: "interrupt" }),
    ]);
    expect(eventsOf(events, "tool.result")[0]?.output).toContain("not made");
    expect(existsSync(join(place.workDir, "asked.txt"))).toBe(false);
  });

  test("that comes right behind a yes still comes before the call", async () => {
    const step = call("write_file", { path: "yes.txt", content: "x" });
    const yaml = scripted([GO_ON, step], { toolsets: [{ type: "filesystem" }] });
    await using runtime = await create(yaml);
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    const answered = runtime.resume({ approval_id, decision: "approve" });
    const interrupted = runtime.interrupt();
    await Promise.all([answered, interrupted]);
    const events = await expectStopped(runtime, running);
    expect(eventsOf(events, "approval.resolved")).toEqual([
      expect.objectContaining({ decision: "approve", by: "user" }),
    ]);
    expect(eventsOf(events, "tool.result")[0]?.output).toContain("not made");
    expect(existsSync(join(place.workDir, "yes.txt"))).toBe(false);
  });

  test("while a question is waited for cancels it", async () => {
    const step = call("user_prompt", { message: "Which?" });
    const yaml = scripted([GO_ON, step], { toolsets: [{ type: "user_prompt" }] });
    await using runtime = await create(yaml);
    const running = runToEnd(runtime, "Ask.");
    const { elicitation_id } = await nextEvent(runtime, "elicitation.requested");
    await runtime.interrupt();
    await expect(
      runtime.answerElicitation({ elicitation_id, action: "decline" }),
    ).rejects.toMatchObject({ code: "nothing_pending" });
    const events = await expectStopped(runtime, running);
    expect(eventsOf(events, "elicitation.resolved")).toEqual([
      expect.objectContaining({ action: "cancel", by: "interrupt" }),
    ]);
  });

  test("while it asks for more iterations ends the turn as interrupted", async () => {
    const again = { ...call("think", { thought: "hm" }), repeat: true };
    const agent = { max_iterations: 1, toolsets: [{ type: "think" }] };
    await using runtime = await create(scripted([GO_ON, again], agent));
    const running = runToEnd(runtime, "Think.");
    await nextEvent(runtime, "approval.requested");
    await runtime.interrupt();
    await expectStopped(runtime, running);
  });

  test("in a compaction leaves the history as it was and says that it failed", async () => {
    const slow = { when: { last_user_contains: "Write a summary" }, ...NEVER };
    const full = { text: "Yes.", usage: { input_tokens: 990, output_tokens: 5 } };
    const models = {
      main: { provider: "scripted", context_limit: 1000, script: [slow, full, full, full] },
    };
    await using runtime = await create(scripted([], {}, { models }));
    await runToEnd(runtime, "One.");
    const running = runToEnd(runtime, "Two.");
    await nextEvent(runtime, "compaction.started");
    await runtime.interrupt();
    const events = await running;
    expect(eventsOf(events, "compaction.ended")).toEqual([
      expect.objectContaining({ outcome: "failed" }),
    ]);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "interrupted" });
    const { messages } = await runtime.transcript();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("ends a summary that was asked for, and who asked is told", async () => {
    const slow = { when: { last_user_contains: "Write a summary" }, ...NEVER };
    await using runtime = await create(scripted([slow, { text: "Yes.", repeat: true }]));
    await runToEnd(runtime, "One.");
    await runToEnd(runtime, "Two.");
    const asked = runtime.summarize();
    await nextEvent(runtime, "compaction.started");
    expect(await runtime.interrupt()).toBe(true);
    expect(await asked).toMatchObject({ outcome: "failed" });
    expect((await runToEnd(runtime, "Three.")).at(-1)).toMatchObject({ reason: "done" });
    expect((await runtime.transcript()).total).toBe(6);
  });

  test.each([
    ["on_user_input", 4],
    ["pre_tool_use", 5],
    ["post_tool_use", 6],
    ["stop", 7],
    ["session_start", 8],
  ])("in a hook at %s ends its command", async (event, n) => {
    const sleep = marker(n);
    // Once: the turn behind it is to end.
    const flag = join(place.workDir, event);
    const command = `test -e ${flag} || { touch ${flag}; sleep ${sleep}; }`;
    const agent = { toolsets: [{ type: "think" }], hooks: { [event]: [{ command }] } };
    const step = call("think", { thought: "x" });
    await using runtime = await create(scripted([GO_ON, step, { text: "Ok." }], agent));
    const running = runToEnd(runtime, "Think.");
    await waitFor("the hook", () => existsSync(flag));
    expect(await runtime.interrupt()).toBe(true);
    if (event === "session_start") {
      // It belongs to the session, not to the turn that waited for it.
      for (const pid of findProcesses(`sleep ${sleep}`)) process.kill(pid, "SIGKILL");
    } else expect(findProcesses(`sleep ${sleep}`)).toEqual([]);
    await expectStopped(runtime, running);
  });

  test("while tools start does not wait for them", async () => {
    const toolsets = [
      { type: "mcp", command: process.execPath, args: ["-e", "setInterval(() => 0, 1e6)"] },
    ];
    await using runtime = await create(scripted([GO_ON], { toolsets }));
    const running = runToEnd(runtime, "Go.");
    await nextEvent(runtime, "message.user");
    expect(await runtime.interrupt()).toBe(true);
    expect((await running).at(-1)).toMatchObject({ type: "turn.ended", reason: "interrupted" });
  });

  test("in a sub-agent's work stops it and the one who waits for it", async () => {
    const sleep = marker(30);
    const yaml = JSON.stringify({
      agents: {
        root: { model: "lead", description: "Leads.", sub_agents: ["helper"] },
        helper: { model: "help", description: "Helps.", toolsets: [{ type: "shell" }] },
      },
      models: {
        lead: {
          provider: "scripted",
          script: [GO_ON, call("transfer_task", { agent: "helper", task: "Sleep." })],
        },
        help: {
          provider: "scripted",
          script: [call("execute", { command: `sleep ${sleep}`, timeout: "10m" })],
        },
      },
    });
    await using runtime = await create(yaml, { safety: "autonomous" });
    const running = runToEnd(runtime, "Delegate.");
    await waitFor("the helper's work", () => findProcesses(`sleep ${sleep}`).length > 0);
    await runtime.interrupt();
    expect(findProcesses(`sleep ${sleep}`)).toEqual([]);
    const events = await expectStopped(runtime, running);
    expect(eventsOf(events, "subagent.ended")).toEqual([
      expect.objectContaining({ outcome: "stopped" }),
    ]);
  });

  test("twice at once is one end, and messages that wait are not lost", async () => {
    await using runtime = await create(scripted([GO_ON, NEVER]));
    const running = runToEnd(runtime, "Wait.");
    await nextEvent(runtime, "message.user");
    await runtime.followUp({ messages: say("Later.") });
    expect(await Promise.all([runtime.interrupt(), runtime.interrupt()])).toEqual([true, true]);
    expect((await running).at(-1)).toMatchObject({ reason: "interrupted" });
    expect((await runtime.queue()).followup.depth).toBe(1);
    const all = await collect(runtime.events({ follow: false }));
    expect(eventsOf(all, "turn.ended")).toHaveLength(1);
  });
});

test("what a person allowed before an interrupt is still allowed behind it", async () => {
  const step = call("write_file", { path: "kept.txt", content: "x" });
  const yaml = scripted([step, NEVER], { toolsets: [{ type: "filesystem" }] });
  await using runtime = await create(yaml);
  const running = runToEnd(runtime, "Write.");
  const { approval_id } = await nextEvent(runtime, "approval.requested");
  await runtime.resume({ approval_id, decision: "approve_tool" });
  await nextEvent(runtime, "tool.result");
  await runtime.interrupt();
  await running;
  expect((await runtime.permissions()).session.allow).toEqual(["write_file"]);
});
