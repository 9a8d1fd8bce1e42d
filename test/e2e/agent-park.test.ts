import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import {
  collect,
  eventsOf,
  inline,
  nextEvent,
  runToEnd,
  say,
  scripted,
} from "#test/harness/runtimes.ts";

/** A worker that has nothing to do ends, and nobody notices. */

const STEPS = [
  {
    when: { last_user_contains: "file", last_role: "user" },
    text: "I write.",
    tool_calls: [{ tool: "write_file", input: { path: "a.txt", content: "a\n" } }],
  },
  { when: { last_user_contains: "file", last_role: "tool" }, text: "It is there." },
  {
    when: { last_user_contains: "colour", last_role: "user" },
    tool_calls: [{ tool: "user_prompt", input: { message: "Which?", options: ["red", "blue"] } }],
  },
  {
    when: { last_user_contains: "colour", last_tool_result_contains: "blue" },
    text: "Blue it is.",
  },
  { text: "Yes.", repeat: true },
];
const TEAM = scripted(STEPS, {
  toolsets: [{ type: "filesystem" }, { type: "user_prompt" }, { type: "shell" }],
});

const leaseParking = leaseForFile(() => openTestGateway({ flags: { agent_idle_ms: 50 } }));

async function createIn(gateway: TestGateway): Promise<Runtime> {
  const { url, token } = gateway;
  const backend = openRemoteBackend(createClient({ url, token }));
  return await backend.create({ source: inline(TEAM), working_dir: gateway.host.dataDir });
}

async function untilParked(gateway: TestGateway, session_id: string): Promise<void> {
  await waitFor("the worker has ended by itself", async () => {
    const { state } = await gateway.get("session.get", { session_id });
    return state.kind === "exited" && state.exit_code === 0 && state.reason === "exited";
  });
}

test("an idle agent is parked, can be read, and comes back with the next message", async () => {
  await using gateway = await leaseParking();
  const runtime = await createIn(gateway);
  await runToEnd(runtime, "One.");
  await untilParked(gateway, runtime.session_id);
  const { activity, life } = await runtime.snapshot();
  expect(activity).toBe("idle");
  expect((await runtime.transcript()).total).toBe(2);
  expect((await runToEnd(runtime, "Two.")).at(-1)).toMatchObject({ reason: "done" });
  expect((await runtime.snapshot()).life).toBe(life + 1);
  const events = await collect(runtime.events({ follow: false }));
  expect(eventsOf(events, "turn.ended").map(({ reason }) => reason)).toEqual(["done", "done"]);
});

test("an agent that waits for an approval is parked, and the answer brings it back to that call", async () => {
  await using gateway = await leaseParking();
  const runtime = await createIn(gateway);
  const { session_id } = runtime;
  await runtime.send(say("The file, please."));
  const { approval_id } = await nextEvent(runtime, "approval.requested");
  await untilParked(gateway, session_id);
  expect(await runtime.snapshot()).toMatchObject({
    activity: "waiting",
    approvals: [{ approval_id, tool: "write_file" }],
  });
  await runtime.resume({ approval_id, decision: "approve" });
  await expect(runtime.resume({ approval_id, decision: "approve" })).rejects.toMatchObject({
    code: "nothing_pending",
  });
  await nextEvent(runtime, "turn.ended");
  const events = await collect(runtime.events({ follow: false }));
  expect(eventsOf(events, "approval.requested")).toHaveLength(1);
  expect(eventsOf(events, "tool.result")).toMatchObject([{ tool: "write_file", is_error: false }]);
  expect(eventsOf(events, "turn.ended")).toMatchObject([{ reason: "done" }]);
  expect(eventsOf(events, "turn.started")).toHaveLength(1);
});

test("a question is parked and answered in the same way", async () => {
  await using gateway = await leaseParking();
  const runtime = await createIn(gateway);
  await runtime.send(say("Ask me for a colour."));
  const { elicitation_id } = await nextEvent(runtime, "elicitation.requested");
  await untilParked(gateway, runtime.session_id);
  await runtime.answerElicitation({
    elicitation_id,
    action: "accept",
    content: { choice: "blue" },
  });
  await nextEvent(runtime, "turn.ended");
  const { messages } = await runtime.transcript();
  expect(messages.at(-1)).toMatchObject({ role: "assistant", text: "Blue it is." });
});

test("an interrupt of a parked turn ends it", async () => {
  await using gateway = await leaseParking();
  const runtime = await createIn(gateway);
  await runtime.send(say("The file, please."));
  await nextEvent(runtime, "approval.requested");
  await untilParked(gateway, runtime.session_id);
  expect(await runtime.interrupt()).toBe(true);
  expect(await runtime.snapshot()).toMatchObject({ activity: "idle", approvals: [] });
  const { messages } = await runtime.transcript();
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("a session that was closed on purpose does not come back", async () => {
  await using gateway = await leaseParking();
  const runtime = await createIn(gateway);
  const { session_id } = runtime;
  await runToEnd(runtime, "One.");
  await untilParked(gateway, session_id);
  await gateway.get("session.close", { session_id });
  await expect(runtime.send(say("Two."))).rejects.toMatchObject({ code: "already_exited" });
  expect((await runtime.transcript()).total).toBe(2);
});

test("a team file that changes does not change a session that runs", async () => {
  await using gateway = await leaseParking();
  const folder = gateway.host.dataDir;
  const path = join(folder, "teams");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "ours.yaml"), scripted([{ text: "Old.", repeat: true }]));
  const { url, token } = gateway;
  const backend = openRemoteBackend(createClient({ url, token }));
  const runtime = await backend.create({ source: { kind: "name", name: "ours" } });
  await runToEnd(runtime, "One.");
  await untilParked(gateway, runtime.session_id);
  writeFileSync(join(path, "ours.yaml"), scripted([{ text: "New.", repeat: true }]));
  const events = await runToEnd(runtime, "Two.");
  expect(eventsOf(events, "message.end")).toMatchObject([{ text: "Old." }]);
});
