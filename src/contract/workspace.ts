import * as z from "zod";
import { TaskId, WorkspaceId } from "./ids.ts";
import { limits } from "./limits.ts";
import { SystemText } from "./session.ts";

export const Name = SystemText.trim().min(1).max(limits.name_chars);

/** The boundary between callers: every session, task, token and audit row belongs to one. */
export const Workspace = z.strictObject({
  workspace_id: WorkspaceId,
  name: z.string(),
  created_at: z.iso.datetime(),
});
export type Workspace = z.infer<typeof Workspace>;

/** A piece of work with its directory; terminals are opened for it. */
export const Task = z.strictObject({
  task_id: TaskId,
  workspace_id: WorkspaceId,
  title: z.string(),
  work_dir: z.string(),
  issue_id: z.string().nullable(),
  /** The agent's own session that a person may want to resume by hand. */
  prior_session_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Task = z.infer<typeof Task>;
