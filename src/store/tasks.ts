import * as z from "zod";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { TaskId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { WorkspaceScope } from "#contract/token.ts";
import type { Task } from "#contract/workspace.ts";
import {
  assertRoom,
  equals,
  inScope,
  listPage,
  type Page,
  type PageQuery,
  parseRow,
  type TableDeps,
} from "./page.ts";

const TaskRow = z.object({
  task_id: TaskId,
  workspace_id: WorkspaceId,
  title: z.string(),
  work_dir: z.string(),
  issue_id: z.string().nullable(),
  prior_session_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

type Content = Pick<Task, "title" | "work_dir" | "issue_id" | "prior_session_id">;
/** What is absent stays; null empties. */
type TaskChange = { readonly [K in keyof Content]?: Content[K] | undefined };

interface TaskQuery extends PageQuery {
  readonly workspaces: WorkspaceScope;
  readonly workspace_id?: string | undefined;
  readonly issue_id?: string | undefined;
}

export interface TaskRecords {
  /** `workspace_not_found` when that has just gone. */
  create(task: Content & { readonly workspace_id: string }): Task;
  find(taskId: string): Task | undefined;
  list(query: TaskQuery): Page<Task>;
  update(taskId: string, change: TaskChange): Task | undefined;
  remove(taskId: string): boolean;
}

const SELECT = "SELECT * FROM tasks";

export function createTaskRecords(deps: TableDeps): TaskRecords {
  const { database } = deps;
  const find = (id: string) =>
    parseRow(deps, TaskRow, database.first(`${SELECT} WHERE task_id = :id`, { id }));
  return {
    create: (task) => database.transaction(() => insert(deps, task)),
    find,
    list: ({ workspaces, workspace_id, issue_id, ...page }) =>
      listPage(
        deps,
        { select: SELECT, schema: TaskRow },
        {
          ...page,
          filters: [
            inScope(workspaces),
            equals("workspace_id", workspace_id),
            equals("issue_id", issue_id),
          ],
        },
      ),
    update: (id, change) =>
      database.transaction(() => {
        const before = find(id);
        if (before === undefined) return undefined;
        const given = Object.entries(change).filter(([, value]) => value !== undefined);
        const after: Task = { ...before, ...Object.fromEntries(given), updated_at: deps.now() };
        const { title, work_dir, issue_id, prior_session_id, updated_at } = after;
        database.run(
          `UPDATE tasks SET title = :title, work_dir = :work_dir, issue_id = :issue_id,
           prior_session_id = :prior_session_id, updated_at = :updated_at WHERE task_id = :id`,
          { id, title, work_dir, issue_id, prior_session_id, updated_at },
        );
        return after;
      }),
    remove: (id) => database.run("DELETE FROM tasks WHERE task_id = :id", { id }) > 0,
  };
}

function insert(
  { database, now }: TableDeps,
  { workspace_id, ...content }: Content & { readonly workspace_id: string },
): Task {
  const workspace = database.first(
    "SELECT workspace_id FROM workspaces WHERE workspace_id = :workspace_id",
    { workspace_id },
  );
  if (workspace === undefined)
    throw new Fault("workspace_not_found", `there is no workspace ${workspace_id}`, {
      details: { workspace_id },
    });
  assertRoom(database.number("SELECT count(*) FROM tasks"), limits.tasks, "tasks");
  const row: Task = {
    task_id: TaskId.parse(randomId("tsk")),
    workspace_id: WorkspaceId.parse(workspace_id),
    ...content,
    created_at: now(),
    updated_at: now(),
  };
  database.run(
    `INSERT INTO tasks
       (task_id, workspace_id, title, work_dir, issue_id, prior_session_id, created_at, updated_at)
     VALUES
       (:task_id, :workspace_id, :title, :work_dir, :issue_id, :prior_session_id, :created_at, :updated_at)`,
    row,
  );
  return row;
}
