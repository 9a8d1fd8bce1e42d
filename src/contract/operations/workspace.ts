import * as z from "zod";
import { TaskId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SystemText, Title } from "#contract/session.ts";
import { Name, Task, Workspace } from "#contract/workspace.ts";
import { Done, ListPage, type OperationSpec } from "./operation-spec.ts";

const byWorkspace = { workspace_id: WorkspaceId };
const byTask = { task_id: TaskId };
const WorkDir = SystemText.min(1)
  .max(limits.path_bytes)
  .regex(/^\//, "a task's directory is an absolute path");
const Label = SystemText.min(1).max(limits.label_chars);

export const workspaceOperations = {
  "workspace.create": {
    http: "POST /v1/workspaces",
    summary: "Make a workspace.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    status: 201,
    input: z.strictObject({ name: Name }),
    output: Workspace,
    faults: ["invalid_request", "forbidden", "too_many"],
  },
  "workspace.list": {
    http: "GET /v1/workspaces",
    summary: "List the workspaces that the caller may see.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject(ListPage),
    output: z.strictObject({ workspaces: z.array(Workspace), cursor: z.string().nullable() }),
    faults: ["invalid_request"],
  },
  "workspace.get": {
    http: "GET /v1/workspaces/:workspace_id",
    summary: "Read one workspace.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject(byWorkspace),
    output: Workspace,
    faults: ["workspace_not_found"],
  },
  "workspace.update": {
    http: "PATCH /v1/workspaces/:workspace_id",
    summary: "Give a workspace another name.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({ ...byWorkspace, name: Name }),
    output: Workspace,
    faults: ["workspace_not_found", "invalid_request"],
  },
  "workspace.delete": {
    http: "DELETE /v1/workspaces/:workspace_id",
    summary: "Remove a workspace that has neither tasks nor live sessions.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    input: z.strictObject(byWorkspace),
    output: Done,
    faults: ["workspace_not_found", "conflict"],
  },
  "task.create": {
    http: "POST /v1/tasks",
    summary: "Bind a working directory to a piece of work.",
    role: "operator",
    answers: "json",
    runs: "gateway",
    status: 201,
    input: z.strictObject({
      workspace_id: WorkspaceId.optional(),
      title: Title.optional(),
      work_dir: WorkDir,
      issue_id: Label.optional(),
      prior_session_id: Label.optional(),
    }),
    output: Task,
    faults: ["invalid_request", "workspace_not_found", "too_many"],
  },
  "task.list": {
    http: "GET /v1/tasks",
    summary: "List tasks, the newest first.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({
      ...ListPage,
      workspace_id: WorkspaceId.optional(),
      issue_id: Label.optional(),
    }),
    output: z.strictObject({ tasks: z.array(Task), cursor: z.string().nullable() }),
    faults: ["invalid_request", "workspace_not_found"],
  },
  "task.get": {
    http: "GET /v1/tasks/:task_id",
    summary: "Read one task.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject(byTask),
    output: Task,
    faults: ["task_not_found"],
  },
  "task.update": {
    http: "PATCH /v1/tasks/:task_id",
    summary: "Change a task; terminals that are open stay as they are.",
    role: "operator",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({
      ...byTask,
      title: Title.optional(),
      work_dir: WorkDir.optional(),
      issue_id: Label.nullable().optional(),
      prior_session_id: Label.nullable().optional(),
    }),
    output: Task,
    faults: ["task_not_found", "invalid_request"],
  },
  "task.delete": {
    http: "DELETE /v1/tasks/:task_id",
    summary: "Forget a task; its directory and its terminals stay.",
    role: "operator",
    answers: "json",
    runs: "gateway",
    input: z.strictObject(byTask),
    output: Done,
    faults: ["task_not_found"],
  },
  "directory.list": {
    http: "GET /v1/directories",
    summary: "Directories that a typed path may go on with, for who fills in a form.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject({
      /** What was typed: the names in the directory before its last slash that begin with the rest. */
      path: SystemText.max(limits.path_bytes).optional(),
      limit: z.int().min(1).max(limits.directories_listed).optional(),
      /** Also names that begin with a dot; so does a path whose last part does. */
      hidden: z.boolean().optional(),
    }),
    output: z.strictObject({
      /** The directory that was read, absolute. */
      path: z.string(),
      names: z.array(z.string()),
      /** There are more than these. */
      truncated: z.boolean(),
    }),
    faults: ["invalid_request"],
  },
} as const satisfies Record<string, OperationSpec>;
