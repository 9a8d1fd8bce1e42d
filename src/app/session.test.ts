import { expect, test } from "vitest";
import { TaskId, WorkspaceId } from "#contract/ids.ts";
import type { Task } from "#contract/workspace.ts";
import { type CallerParts, createTestCaller } from "#test/harness/caller.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import type { AuditedAction } from "./audit.ts";
import { createSessionOperations, type SessionDeps } from "./session.ts";

const leaseHost = leaseForFile(() => openTestHost());

const HERE = WorkspaceId.parse("wsp_aaaaaaaaaaaaaaaa");
const ELSEWHERE = WorkspaceId.parse("wsp_bbbbbbbbbbbbbbbb");
const task: Task = {
  task_id: TaskId.parse("tsk_aaaaaaaaaaaaaaaa"),
  workspace_id: HERE,
  title: "t",
  work_dir: "/usr",
  issue_id: "ISSUE-1",
  prior_session_id: "prior",
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
};

function operationsOf(
  { hosts }: TestHost,
  caller: CallerParts = {},
  more: Partial<SessionDeps> = {},
) {
  const places = {
    hasWorkspace: (id: string) => [HERE, ELSEWHERE].includes(id as typeof HERE),
    findTask: (id: string) => (id === task.task_id ? task : undefined),
  };
  const who = createTestCaller({
    user_id: "ann",
    workspaces: [HERE],
    workspace_id: HERE,
    ...caller,
  });
  return createSessionOperations({ hosts, places, ...more }, who);
}

test("a session of a task is in its workspace and its directory, and its child knows of both", async () => {
  await using host = await leaseHost();
  const { "session.create": create } = operationsOf(host);
  const { task_id } = task;
  const made = await create({
    kind: "command",
    command: "pwd; env",
    task_id,
    env: { MINE: "yes" },
  });
  expect(made).toMatchObject({
    workspace_id: HERE,
    task_id,
    issue_id: "ISSUE-1",
    user_id: "ann",
    work_dir: "/usr",
  });
  const lines = (await host.output(made.session_id)).text.split("\n");
  for (const line of [
    "/usr",
    "MINE=yes",
    `REINS_SESSION_ID=${made.session_id}`,
    `REINS_WORKSPACE_ID=${HERE}`,
    `REINS_TASK_ID=${task_id}`,
    "REINS_ISSUE_ID=ISSUE-1",
    "REINS_USER_ID=ann",
    "CLAUDE_SESSION_ID=prior",
  ])
    expect(lines).toContain(line);
});

test("what a request may not say is refused before anything starts", async () => {
  await using host = await leaseHost();
  const create = (caller: CallerParts, more: object) =>
    operationsOf(host, caller)["session.create"]({ kind: "command", command: "true", ...more });
  const { task_id } = task;
  for (const [caller, more, code] of [
    [{}, { env: { REINS_SESSION_ID: "x" } }, "invalid_request"],
    [{}, { workspace_id: ELSEWHERE }, "workspace_not_found"],
    [{ workspaces: "*" }, { workspace_id: "wsp_cccccccccccccccc" }, "workspace_not_found"],
    [{ workspaces: "*" }, { workspace_id: ELSEWHERE, task_id }, "workspace_mismatch"],
    [{ workspaces: [ELSEWHERE], workspace_id: ELSEWHERE }, { task_id }, "task_not_found"],
    [{}, { parent_session_id: "ses_0000000000000000" }, "session_not_found"],
  ] as const)
    await expect(create(caller as CallerParts, more)).rejects.toMatchObject({ code });
  expect((await host.client.call("session.list", {})).sessions).toEqual([]);
});

test("an input that takes over types, and leaves control free", async () => {
  await using host = await leaseHost();
  const told: AuditedAction[] = [];
  const audit = { record: (done: AuditedAction) => void told.push(done) };
  const operations = operationsOf(host, {}, { audit });
  const { session_id } = await operations["session.create"]({
    kind: "terminal",
    argv: ["/bin/cat"],
  });
  const place = { session_id, viewer: "bob", role: "controller", takeover: false } as const;
  await host.client.call("session.attach", place);
  await expect(operations["session.input"]({ session_id, data: "x" })).rejects.toMatchObject({
    code: "not_controller",
  });
  await operations["session.input"]({ session_id, data: "x", takeover: true });
  expect(await operations["session.get"]({ session_id })).toMatchObject({ controller: null });
  expect(told.map(({ action }) => action)).toEqual([
    "session.opened",
    "session.wrote",
    "session.taken_over",
  ]);
  expect(told[1]?.details).toEqual({ inputs: 1, bytes: 1 });
});

test("a list holds what the caller may see, by workspace and by task", async () => {
  await using host = await leaseHost();
  const everywhere = operationsOf(host, { workspaces: "*" });
  const make = (workspace_id: typeof HERE, more: object = {}) =>
    everywhere["session.create"]({ kind: "command", command: "true", workspace_id, ...more });
  const [first, second] = [await make(HERE), await make(HERE, { task_id: task.task_id })];
  const foreign = await make(ELSEWHERE);
  const list = async (operations: typeof everywhere, filters: object = {}) =>
    (await operations["session.list"](filters)).sessions.map(({ session_id }) => session_id);
  const own = operationsOf(host);
  expect((await list(own)).toSorted()).toEqual([first.session_id, second.session_id].toSorted());
  expect(await list(own, { task_id: task.task_id })).toEqual([second.session_id]);
  expect(await list(everywhere, { workspace_id: ELSEWHERE })).toEqual([foreign.session_id]);
  expect((await list(everywhere)).length).toBe(3);
  await expect(list(own, { workspace_id: ELSEWHERE })).rejects.toMatchObject({
    code: "workspace_not_found",
  });
});

test("a terminal of a task ends when it was idle for the configured time, others do not", async () => {
  await using host = await leaseHost();
  const { "session.create": create, "session.get": get } = operationsOf(
    host,
    {},
    { taskIdleMs: 1 },
  );
  const argv = ["/bin/cat"];
  const idle = await create({ kind: "terminal", argv, task_id: task.task_id });
  const kept = await create({ kind: "terminal", argv });
  const ended = await host.output(idle.session_id);
  expect(ended.bytes.length).toBe(0);
  expect((await get({ session_id: idle.session_id })).state).toMatchObject({
    reason: "idle_timeout",
  });
  expect((await get({ session_id: kept.session_id })).state).toEqual({ kind: "running" });
});
