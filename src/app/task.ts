import { basename } from "node:path";
import { limits } from "#contract/limits.ts";
import type { Operations } from "#contract/operations.ts";
import type { Store } from "#store/store.ts";
import type { Audit } from "./audit.ts";
import { chooseWorkspace, type Who } from "./caller.ts";
import { getTask } from "./session.ts";
import { createPlaces, getWorkspace } from "./workspace.ts";

export type TaskOperations = Pick<
  Operations,
  "task.create" | "task.list" | "task.get" | "task.update" | "task.delete"
>;

interface TaskDeps {
  readonly store: Pick<Store, "workspaces" | "tasks">;
  readonly audit: Audit;
}

export function createTaskOperations({ store, audit }: TaskDeps, caller: Who): TaskOperations {
  const { tasks } = store;
  const places = createPlaces(store);
  return {
    "task.create": async ({ work_dir, ...input }) => {
      const task = tasks.create({
        workspace_id: chooseWorkspace(caller, input.workspace_id),
        title: input.title ?? titleOf(work_dir),
        work_dir,
        issue_id: input.issue_id ?? null,
        prior_session_id: input.prior_session_id ?? null,
      });
      const { workspace_id, task_id, issue_id } = task;
      const details = { work_dir, issue_id };
      audit.record({ action: "task.created", caller, workspace_id, target_id: task_id, details });
      return task;
    },
    "task.list": async ({ workspace_id, limit = limits.list_default, ...query }) => {
      if (workspace_id !== undefined) getWorkspace(store, caller, workspace_id);
      const { workspaces } = caller;
      const page = tasks.list({ ...query, limit, workspaces, workspace_id });
      return { tasks: page.rows, cursor: page.cursor };
    },
    "task.get": async ({ task_id }) => getTask(places, caller, task_id),
    "task.update": async ({ task_id, ...change }) => {
      getTask(places, caller, task_id);
      const task = tasks.update(task_id, change);
      // Gone meanwhile: said as for one that never was.
      if (task === undefined) return getTask(places, caller, task_id);
      const { workspace_id } = task;
      const details = { fields: Object.keys(change).join(" ") };
      audit.record({ action: "task.changed", caller, workspace_id, target_id: task_id, details });
      return task;
    },
    "task.delete": async ({ task_id }) => {
      const { workspace_id } = getTask(places, caller, task_id);
      if (!tasks.remove(task_id)) getTask(places, caller, task_id);
      audit.record({ action: "task.removed", caller, workspace_id, target_id: task_id });
      return {};
    },
  };
}

function titleOf(workDir: string): string {
  return (basename(workDir) || workDir).slice(0, limits.title_chars);
}
