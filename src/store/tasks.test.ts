import { expect, test } from "vitest";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { openTestStore } from "./testing/test-store.ts";

const content = {
  workspace_id: LOCAL_WORKSPACE,
  title: "fix it",
  work_dir: "/srv",
  issue_id: "R-1",
  prior_session_id: null,
};

test("a task is made, found and removed", () => {
  using test = openTestStore();
  const { tasks } = test.store;
  const made = tasks.create(content);
  const at = "2026-01-01T00:00:00.000Z";
  expect(made).toEqual({ ...content, task_id: made.task_id, created_at: at, updated_at: at });
  expect(test.openAnother().tasks.find(made.task_id)).toEqual(made);
  expect([tasks.remove(made.task_id), tasks.remove(made.task_id)]).toEqual([true, false]);
  expect(tasks.find(made.task_id)).toBeUndefined();
});

test("a change touches what it names, null empties, and the time of the change is kept", () => {
  using test = openTestStore();
  const { tasks } = test.store;
  const made = tasks.create(content);
  test.clock.advance(1000);
  const changed = { ...made, issue_id: null, updated_at: "2026-01-01T00:00:01.000Z" };
  expect(tasks.update(made.task_id, { issue_id: null, title: undefined })).toEqual(changed);
  expect(tasks.find(made.task_id)).toEqual(changed);
  const moved = { work_dir: "/tmp", title: "", prior_session_id: "s" };
  expect(tasks.update(made.task_id, moved)).toEqual({ ...changed, ...moved });
  expect(tasks.find(made.task_id)).toEqual({ ...changed, ...moved });
  expect(tasks.update("tsk_unknown", moved)).toBeUndefined();
});

test("a task of a workspace that does not exist is refused", () => {
  using test = openTestStore();
  const { workspace_id } = test.store.workspaces.create("gone");
  test.store.workspaces.remove(workspace_id);
  expect(() => test.store.tasks.create({ ...content, workspace_id })).toThrow(
    expect.objectContaining({ code: "workspace_not_found", details: { workspace_id } }),
  );
});

test("tasks are listed by workspace and by issue", () => {
  using test = openTestStore();
  const { tasks, workspaces } = test.store;
  const { workspace_id } = workspaces.create("other");
  const first = tasks.create(content);
  const second = tasks.create({ ...content, workspace_id, issue_id: "R-2" });
  const list = (query: { workspace_id?: string; issue_id?: string }) =>
    tasks.list({ workspaces: "*", limit: 9, ...query }).rows;
  expect(list({})).toEqual([second, first]);
  expect(list({ workspace_id })).toEqual([second]);
  expect(list({ issue_id: "R-1" })).toEqual([first]);
  expect(tasks.list({ workspaces: [workspace_id], limit: 9 }).rows).toEqual([second]);
});

test("there are as many tasks as the limit says and no more", { timeout: 30_000 }, () => {
  using test = openTestStore();
  test.sql(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.tasks})
    INSERT INTO tasks (task_id, workspace_id, title, work_dir, created_at, updated_at)
    SELECT 'tsk_' || i, 'wsp_local', '', '/', '', '' FROM n`);
  expect(() => test.store.tasks.create(content)).toThrow(
    expect.objectContaining({ code: "too_many", details: { limit: limits.tasks } }),
  );
});
