import { expect, test } from "vitest";
import { LOCAL_WORKSPACE, type WorkspaceId } from "#contract/ids.ts";
import { openTestStore, type TestStore } from "#store/testing/test-store.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { createAudit } from "./audit.ts";
import { createTaskOperations } from "./task.ts";

function openTasks(test: TestStore, workspaces: "*" | WorkspaceId[] = "*") {
  const deps = { store: test.store, audit: createAudit(test.store, test.clock) };
  const own = workspaces === "*" ? LOCAL_WORKSPACE : (workspaces[0] ?? LOCAL_WORKSPACE);
  return createTaskOperations(deps, createTestCaller({ workspaces, workspace_id: own }));
}

function makeWorkspace({ store }: TestStore): WorkspaceId {
  return store.workspaces.create("one").workspace_id;
}

test("a task is made, read, changed and removed, and each change is audited", async () => {
  using test = openTestStore();
  const operations = openTasks(test);
  const task = await operations["task.create"]({ work_dir: "/srv/app", issue_id: "R-1" });
  const { task_id } = task;
  expect(task).toMatchObject({
    ...{ workspace_id: LOCAL_WORKSPACE, title: "app", work_dir: "/srv/app", issue_id: "R-1" },
  });
  expect(await operations["task.get"]({ task_id })).toEqual(task);
  const changed = await operations["task.update"]({ task_id, title: "new", issue_id: null });
  expect(changed).toMatchObject({ title: "new", issue_id: null, work_dir: "/srv/app" });
  expect(await operations["task.delete"]({ task_id })).toEqual({});
  await expect(operations["task.get"]({ task_id })).rejects.toMatchObject({
    code: "task_not_found",
  });
  const { rows } = test.store.audit.list({ workspaces: "*", limit: 9 });
  expect(rows.map((row) => [row.action, row.workspace_id, row.target_id, row.details])).toEqual([
    ["task.removed", LOCAL_WORKSPACE, task_id, {}],
    ["task.changed", LOCAL_WORKSPACE, task_id, { fields: "title issue_id" }],
    ["task.created", LOCAL_WORKSPACE, task_id, { work_dir: "/srv/app", issue_id: "R-1" }],
  ]);
});

test("a task without a title is called after its directory", async () => {
  using test = openTestStore();
  const operations = openTasks(test);
  const titles = ["/", "/a/b/", `/${"x".repeat(250)}`].map(
    async (work_dir) => (await operations["task.create"]({ work_dir })).title,
  );
  expect(await Promise.all(titles)).toEqual(["/", "b", "x".repeat(200)]);
});

test("a task belongs to the caller's workspace unless it names another one that he may see", async () => {
  using test = openTestStore();
  const [own, other] = [makeWorkspace(test), makeWorkspace(test)];
  const operations = openTasks(test, [own, other]);
  const create = (workspace_id?: string) =>
    operations["task.create"]({ work_dir: "/", ...(workspace_id ? { workspace_id } : {}) });
  expect((await create()).workspace_id).toBe(own);
  expect((await create(other)).workspace_id).toBe(other);
});

test("a foreign task and workspace are answered exactly as unknown ones, on every operation", async () => {
  using test = openTestStore();
  const own = makeWorkspace(test);
  const operations = openTasks(test, [own]);
  const foreign = await openTasks(test)["task.create"]({ work_dir: "/" });
  const refusals = (task_id: string, workspace_id: string) =>
    Promise.all(
      [
        operations["task.get"]({ task_id }),
        operations["task.update"]({ task_id, title: "mine" }),
        operations["task.delete"]({ task_id }),
        operations["task.list"]({ workspace_id }),
        operations["task.create"]({ work_dir: "/", workspace_id }),
      ].map((answer) =>
        answer.catch(({ code, message, details }) =>
          JSON.stringify({ code, message, details })
            .replaceAll(task_id, "TASK")
            .replaceAll(workspace_id, "PLACE"),
        ),
      ),
    );
  const answers = await refusals(foreign.task_id, foreign.workspace_id);
  expect(answers).toEqual(await refusals("tsk_0000000000000000", "wsp_0000000000000000"));
  expect(answers.map((answer) => /"code":"(\w+)"/.exec(String(answer))?.[1])).toEqual([
    ...["task_not_found", "task_not_found", "task_not_found"],
    ...["workspace_not_found", "workspace_not_found"],
  ]);
  expect((await operations["task.list"]({})).tasks).toEqual([]);
  expect(test.store.tasks.find(foreign.task_id)).toEqual(foreign);
});

test("a workspace that does not exist has no tasks to list, also for who sees all", async () => {
  using test = openTestStore();
  const workspace_id = "wsp_0000000000000000";
  const operations = openTasks(test);
  const refused = { code: "workspace_not_found", details: { workspace_id } };
  await expect(operations["task.list"]({ workspace_id })).rejects.toMatchObject(refused);
  const create = operations["task.create"]({ workspace_id, work_dir: "/" });
  await expect(create).rejects.toMatchObject(refused);
});

test("tasks are listed page by page and by issue", async () => {
  using test = openTestStore();
  const operations = openTasks(test);
  for (const issue_id of ["a", "b", "a"])
    await operations["task.create"]({ work_dir: "/", issue_id });
  const page = await operations["task.list"]({ issue_id: "a", limit: 1 });
  const rest = await operations["task.list"]({ issue_id: "a", cursor: page.cursor ?? "" });
  expect([page.tasks.length, rest.tasks.length, rest.cursor]).toEqual([1, 1, null]);
});
