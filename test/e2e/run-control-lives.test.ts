import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import {
  collect,
  eventsOf,
  inline,
  nextEvent,
  runToEnd,
  say,
  scripted,
} from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** What is left of a run when its worker, its server or its session's beginning goes. */

const SLEEP = `9${process.pid}77.5`;
const call = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
const user = (text: string) => ({ last_user_contains: text, last_role: "user" });

const parsed = JSON.parse(
  scripted(
    [
      { when: user("sleep"), ...call("execute", { command: `sleep ${SLEEP}`, timeout: "10m" }) },
      { when: user("write"), ...call("write_file", { path: "x", content: "x" }) },
      {
        when: user("plan"),
        ...call("todo_write", { todos: [{ text: "Rest", status: "pending" }] }),
      },
      { when: user("recall"), ...call("todo_read", {}) },
      { when: user("delegate"), ...call("transfer_task", { agent: "other", task: "Repeat." }) },
      { when: user("speak"), deltas: ["Once ", "upon "], every_ms: 300_000 },
      { when: user("wait"), delay_ms: 600_000, text: "Never." },
      { when: user("fail"), error: { cause: "refused", message: "I refuse." }, repeat: true },
      { text: "Yes.", repeat: true },
    ],
    {
      toolsets: [{ type: "shell" }, { type: "filesystem" }, { type: "todo" }],
      sub_agents: ["other"],
      handoffs: ["other"],
    },
    { permissions: { allow: ["execute:command=sleep *"] } },
  ),
);
parsed.agents.other = { model: "scripted/echo", description: "Repeats.", instruction: "Repeat." };
const YAML = JSON.stringify(parsed);

let gateway: TestGateway;
let backend: RuntimeBackend;
beforeAll(async () => {
  gateway = await openTestGateway();
  backend = openRemoteBackend(createClient({ url: gateway.url, token: gateway.token }));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const create = (more: object = {}): Promise<Runtime> =>
  backend.create({ source: inline(YAML), working_dir: gateway.host.dataDir, ...more });

/** One session for the tests that claim nothing about a new one: a worker costs more than most of them. */
let kept: Promise<Runtime> | undefined;
function keep(): Promise<Runtime> {
  kept ??= create();
  return kept;
}

/** Kills the worker and waits until the host has seen it. */
async function kill({ session_id }: Runtime): Promise<void> {
  // The host made the id.
  const of = { session_id: session_id as never };
  const { pid } = await gateway.host.client.call("session.get", of);
  process.kill(pid ?? 0, "SIGKILL");
  await waitFor("the worker to be gone", async () => {
    const { state } = await gateway.host.client.call("session.get", of);
    return state.kind === "exited" && !isAlive(pid ?? 0);
  });
}

const rolesOf = async (runtime: Runtime) =>
  (await runtime.transcript()).messages.map(({ role }) => role);

/** Every call of the transcript has its result behind it, and every turn its one end. */
async function expectWhole(runtime: Runtime): Promise<void> {
  const { messages } = await runtime.transcript();
  const called = messages.flatMap((each) =>
    each.role === "assistant" ? each.tool_calls.map(({ call_id }) => call_id) : [],
  );
  expect(messages.flatMap((each) => (each.role === "tool" ? [each.call_id] : []))).toEqual(called);
  const events = await collect(runtime.events({ follow: false }));
  const started = eventsOf(events, "turn.started").map(({ turn_id }) => turn_id);
  expect(eventsOf(events, "turn.ended").map(({ turn_id }) => turn_id)).toEqual(started);
}

describe("a killed worker", () => {
  test("in a call: the call gets a result that says so, the session continues, and closing it ends the command", async () => {
    await using runtime = await create();
    const running = runToEnd(runtime, "sleep");
    await waitFor("the command", () => findProcesses(`sleep ${SLEEP}`).length > 0);
    await kill(runtime);
    const seen = await running;
    expect(seen.at(-1)).toMatchObject({ type: "session.exited" });
    expect((await runtime.snapshot()).activity).toBe("idle");
    expect((await runToEnd(runtime, "Hello?")).at(-1)).toMatchObject({ reason: "done" });
    const { messages } = await runtime.transcript();
    expect(messages[2]).toMatchObject({ role: "tool", is_error: true });
    const events = await collect(runtime.events({ follow: false }));
    expect(eventsOf(events, "turn.ended").map(({ reason }) => reason)).toEqual([
      "interrupted",
      "done",
    ]);
    expect((await runtime.snapshot()).life).toBe(2);
    await expectWhole(runtime);
    // A command is a session of the host: it does not die with who asked for it, and can be seen and ended.
    // The host made the id.
    const session_id = runtime.session_id as never;
    const { sessions } = await gateway.get("session.list", { parent_session_id: session_id });
    expect(sessions).toEqual([expect.objectContaining({ kind: "command" })]);
    await gateway.get("session.close", { session_id });
    expect(findProcesses(`sleep ${SLEEP}`)).toEqual([]);
  });

  test("during an approval: the old approval is void, and the call asks again", async () => {
    const runtime = await keep();
    const { events_tail: tail } = await runtime.snapshot();
    await runtime.send(say("write"));
    const { approval_id } = await nextEvent(runtime, "approval.requested", tail);
    await kill(runtime);
    expect((await runtime.snapshot()).approvals).toEqual([]);
    await expect(runtime.resume({ approval_id, decision: "approve" })).rejects.toMatchObject({
      code: "nothing_pending",
    });
    await expectWhole(runtime);
    const { events_tail } = await runtime.snapshot();
    const running = runToEnd(runtime, "write");
    const again = await nextEvent(runtime, "approval.requested", events_tail);
    expect(again.approval_id).not.toBe(approval_id);
    await runtime.resume({ approval_id: again.approval_id, decision: "reject" });
    await running;
    await expectWhole(runtime);
  });

  test("in an answer: the text so far stays, marked as cut off", async () => {
    const runtime = await keep();
    const { total } = await runtime.transcript();
    const { events_tail } = await runtime.snapshot();
    await runtime.send(say("speak"));
    await nextEvent(runtime, "message.delta", events_tail);
    await kill(runtime);
    expect((await runToEnd(runtime, "Hello?")).at(-1)).toMatchObject({ reason: "done" });
    const { messages } = await runtime.transcript();
    expect(messages[total + 1]).toMatchObject({ text: "Once ", interrupted: true });
    await expectWhole(runtime);
  });

  test("keeps the model, the permissions, the memories, the counters and the conversation", async () => {
    await using runtime = await create({ limits: { max_tokens: 1_000_000 } });
    const first = runToEnd(runtime, "write");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.resume({ approval_id, decision: "approve_tool" });
    await first;
    await runToEnd(runtime, "plan");
    expect((await runToEnd(runtime, "fail")).at(-1)).toMatchObject({ reason: "error" });
    const sent = await runtime.send(say("Once."), "key-1");
    await waitFor("it to be idle", async () => (await runtime.snapshot()).activity === "idle");
    await runtime.setPermissions({ ask: ["read_file"], safety: "strict" });
    await runtime.setModel({ agent: "other", model: "main" });
    await runtime.setTitle("Kept");
    await runtime.send(say("wait"));
    await runtime.followUp({ messages: say("Later."), idempotency_key: "key-2" });
    // Otherwise the next life would take it up by itself.
    await runtime.interrupt();
    const before = await runtime.snapshot();
    await kill(runtime);
    await runtime.setPermissions({ safety: "balanced" });
    expect(await runtime.send(say("Once."), "key-1")).toEqual({
      status: "duplicate",
      turn_id: sent.turn_id,
    });
    expect(await runtime.followUp({ messages: say("Later."), idempotency_key: "key-2" })).toEqual({
      status: "duplicate",
    });
    const after = await runtime.snapshot();
    const kept = ({
      title,
      agent,
      model,
      model_overrides,
      transcript,
      usage,
      limits,
      queue,
    }: typeof before) => ({
      ...{ title, agent, model, model_overrides, transcript, usage, limits, queue },
    });
    expect(kept(after)).toEqual(kept(before));
    expect(after.permissions.session).toEqual({ allow: ["write_file"], ask: ["read_file"] });
    expect(after.transcript.map(({ role }) => role)).toContain("error");
    expect(after.queue.followup.depth).toBe(1);
    const recalled = eventsOf(await runToEnd(runtime, "recall"), "tool.result")[0];
    expect(recalled?.output).toContain("Rest");
    // And the tool is still allowed.
    const { events_tail } = await runtime.snapshot();
    await waitFor("the follow-up's turn", async () => {
      const { activity, queue } = await runtime.snapshot();
      return activity === "idle" && queue.followup.depth === 0;
    });
    const again = await runToEnd(runtime, "write");
    expect(eventsOf(again, "approval.requested")).toEqual([]);
    const later = await collect(runtime.events({ since: events_tail, follow: false }));
    expect(eventsOf(later, "message.user").length).toBeGreaterThan(0);
    await expectWhole(runtime);
  });

  test("keeps its current agent", async () => {
    const runtime = await keep();
    await runtime.setCurrentAgent("other");
    await kill(runtime);
    const events = await runToEnd(runtime, "Still there?");
    expect(eventsOf(events, "message.end")[0]).toMatchObject({ agent: "other" });
    expect((await runtime.currentAgent()).name).toBe("other");
  });
});

describe("forks and lists", () => {
  test("a fork is possible at 0, at the last message and in the middle of a call, and not outside of the history", async () => {
    await using runtime = await create({
      permissions: { allow: ["todo_write"], ask: ["read_file"], deny: ["fetch"] },
      limits: { max_tokens: 123_456 },
      safety: "strict",
    });
    await runToEnd(runtime, "plan");
    const { total } = await runtime.transcript();
    expect(await rolesOf(runtime)).toEqual(["user", "assistant", "tool", "assistant"]);
    for (const at of [-1, total + 1, 1.5])
      await expect(runtime.fork(at)).rejects.toMatchObject({ code: "invalid_request" });
    for (const at of [0, 2, total]) {
      await using fork = await backend.open(await runtime.fork(at));
      const roles = await rolesOf(fork);
      // A call whose result was left behind has one that says so.
      expect(roles).toHaveLength(at === 2 ? 3 : at);
      const { permissions, limits, agent } = await fork.snapshot();
      expect([permissions.session, permissions.safety, limits, agent]).toEqual([
        { allow: ["todo_write"], ask: ["read_file"], deny: ["fetch"] },
        "strict",
        { max_tokens: 123_456 },
        "root",
      ]);
      expect((await runToEnd(fork, "Go on.")).at(-1)).toMatchObject({ reason: "done" });
      await expectWhole(fork);
    }
    expect((await runtime.transcript()).total).toBe(total);
  });

  test("sub-agents are not sessions, and their messages are not points to fork at", async () => {
    const { sessions } = await gateway.get("session.list", { kind: "agent" });
    await using runtime = await create();
    await runToEnd(runtime, "delegate");
    const after = await gateway.get("session.list", { kind: "agent" });
    expect(after.sessions.length).toBe(sessions.length + 1);
    expect(await rolesOf(runtime)).toEqual(["user", "assistant", "tool", "assistant"]);
  });
});

test("an unreachable server is reported with its cause, and the current agent stays", async () => {
  using temp = openTempDir();
  const { dataDir } = gateway.host;
  const first = await openGatewayProcess({ dataDir });
  const { port, door } = first;
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  const remote = openRemoteBackend(createClient({ url: door.url, token }));
  const runtime = await remote.create({ source: inline(YAML), working_dir: temp.path });
  await first.kill("SIGKILL");
  await expect(runtime.setCurrentAgent("other")).rejects.toMatchObject({
    code: "host_unavailable",
    cause: expect.any(Error),
  });
  await using _second = await openGatewayProcess({ dataDir, port });
  expect((await runtime.currentAgent()).name).toBe("root");
  await runtime.setCurrentAgent("other");
  expect((await runtime.currentAgent()).name).toBe("other");
});
