import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { LOCAL_WORKSPACE, WorkspaceId } from "#contract/ids.ts";
import { onlyHost } from "#session/local-host.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import { openTestStore, type TestStore } from "#store/testing/test-store.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { createAudit } from "./audit.ts";
import { RemovedWorkspaces } from "./live/removed-workspaces.ts";
import { createPlaces, createWorkspaceOperations } from "./workspace.ts";

const leaseHost = leaseForFile(() => openTestHost());

const noHost = onlyHost({
  call: () => Promise.reject(new Error("nobody should ask the host")),
} as unknown as SessionHost);
const unknownId = "wsp_0000000000000000";

function openWorkspaces(
  test: TestStore,
  { hosts = noHost, scope = "*" }: { hosts?: SessionHosts; scope?: "*" | WorkspaceId[] } = {},
) {
  const removedWorkspaces = new RemovedWorkspaces(hosts, silentLogger);
  const audit = createAudit(test.store, test.clock);
  const deps = { store: test.store, audit, hosts, removedWorkspaces };
  return createWorkspaceOperations(
    deps,
    createTestCaller({ user_id: "ann", token_id: "tok_ann", workspaces: scope }),
  );
}

function actions({ store }: TestStore) {
  const { rows } = store.audit.list({ workspaces: "*", limit: 100 });
  return rows.map(({ action, user_id, token_id, workspace_id, target_id, details }) => ({
    ...{ action, user_id, token_id, workspace_id, target_id, details },
  }));
}

test("a workspace is made, listed, read, renamed and removed, and each change is audited", async () => {
  await using host = await leaseHost();
  using test = openTestStore();
  const operations = openWorkspaces(test, host);
  const made = await operations["workspace.create"]({ name: "one" });
  const { workspace_id } = made;
  expect(await operations["workspace.get"]({ workspace_id })).toEqual(made);
  const changed = await operations["workspace.update"]({ workspace_id, name: "two" });
  expect(changed).toEqual({ ...made, name: "two" });
  const { workspaces, cursor } = await operations["workspace.list"]({});
  expect([workspaces.map(({ name }) => name), cursor]).toEqual([["two", "local"], null]);
  expect(await operations["workspace.delete"]({ workspace_id })).toEqual({});
  const who = { user_id: "ann", token_id: "tok_ann", workspace_id, target_id: workspace_id };
  expect(actions(test)).toEqual([
    { ...who, action: "workspace.removed", details: {} },
    { ...who, action: "workspace.changed", details: { name: "two" } },
    { ...who, action: "workspace.created", details: { name: "one" } },
  ]);
});

test("a list goes on where the page before ended", async () => {
  using test = openTestStore();
  const operations = openWorkspaces(test);
  await operations["workspace.create"]({ name: "one" });
  const page = await operations["workspace.list"]({ limit: 1 });
  const rest = await operations["workspace.list"]({ limit: 1, cursor: page.cursor ?? "" });
  expect([...page.workspaces, ...rest.workspaces].map(({ name }) => name)).toEqual([
    "one",
    "local",
  ]);
});

test("a foreign workspace is answered exactly as an unknown one, on every operation", async () => {
  using test = openTestStore();
  const own = test.store.workspaces.create("own").workspace_id;
  const foreign = test.store.workspaces.create("foreign").workspace_id;
  const operations = openWorkspaces(test, { scope: [own] });
  const refusals = (workspace_id: string) =>
    Promise.all(
      [
        operations["workspace.get"]({ workspace_id }),
        operations["workspace.update"]({ workspace_id, name: "mine" }),
        operations["workspace.delete"]({ workspace_id }),
      ].map((answer) =>
        answer.catch(({ code, message, details }) =>
          JSON.stringify({ code, message, details }).replaceAll(workspace_id, "ID"),
        ),
      ),
    );
  const answers = await refusals(foreign);
  expect(answers).toEqual(await refusals(unknownId));
  expect(answers[0]).toContain("workspace_not_found");
  expect((await operations["workspace.list"]({})).workspaces.map(({ name }) => name)).toEqual([
    "own",
  ]);
  expect(test.store.workspaces.find(foreign)?.name).toBe("foreign");
  expect(actions(test)).toEqual([]);
});

test("an administrator of some workspaces makes none", async () => {
  using test = openTestStore();
  const operations = openWorkspaces(test, { scope: [LOCAL_WORKSPACE] });
  await expect(operations["workspace.create"]({ name: "x" })).rejects.toMatchObject({
    code: "forbidden",
  });
  expect((await operations["workspace.list"]({})).workspaces).toHaveLength(1);
});

test("the local workspace is not removed, without asking the host", async () => {
  using test = openTestStore();
  const operations = openWorkspaces(test);
  const workspace_id = LOCAL_WORKSPACE;
  await expect(operations["workspace.delete"]({ workspace_id })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("the tokens that go with a workspace are audited, too", async () => {
  await using host = await leaseHost();
  using test = openTestStore();
  const operations = openWorkspaces(test, host);
  const { workspace_id } = await operations["workspace.create"]({ name: "one" });
  const id = WorkspaceId.parse(workspace_id);
  const { token } = test.token({ workspaces: [id] });
  await operations["workspace.delete"]({ workspace_id });
  expect(actions(test)[0]).toMatchObject({
    ...{ action: "token.revoked", workspace_id, target_id: token.token_id },
    details: { reason: "workspace_removed" },
  });
});

test("a workspace with a live session stays; one whose sessions have exited goes", async () => {
  await using host = await leaseHost();
  using test = openTestStore();
  const operations = openWorkspaces(test, host);
  const { workspace_id } = await operations["workspace.create"]({ name: "one" });
  const labels = { workspace_id };
  const { session_id } = await host.create({ argv: ["sleep", "1000"], labels });
  await expect(operations["workspace.delete"]({ workspace_id })).rejects.toMatchObject({
    code: "conflict",
    details: { workspace_id, session_id },
  });
  expect(test.store.workspaces.find(workspace_id)).toBeDefined();
  await host.client.call("session.close", { session_id });
  expect(await operations["workspace.delete"]({ workspace_id })).toEqual({});
});

test("a host that cannot be asked keeps the workspace", async () => {
  using test = openTestStore();
  const { workspace_id } = test.store.workspaces.create("one");
  await expect(openWorkspaces(test)["workspace.delete"]({ workspace_id })).rejects.toThrow(
    "nobody should ask",
  );
  expect(test.store.workspaces.find(workspace_id)).toBeDefined();
});

test("places knows the workspaces and tasks of the store", () => {
  using test = openTestStore();
  const places = createPlaces(test.store);
  const task = test.store.tasks.create({
    ...{ workspace_id: LOCAL_WORKSPACE, title: "", work_dir: "/" },
    ...{ issue_id: null, prior_session_id: null },
  });
  expect([LOCAL_WORKSPACE, unknownId].map(places.hasWorkspace)).toEqual([true, false]);
  expect(places.findTask(task.task_id)).toEqual(task);
  expect(places.findTask("tsk_0000000000000000")).toBeUndefined();
});
