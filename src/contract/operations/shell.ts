import * as z from "zod";
import { ShellId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Environment, SystemText } from "#contract/session.ts";
import { Shell, ShellEvent } from "#contract/shell.ts";
import { Done, ListPage, type OperationSpec } from "./operation-spec.ts";

const byShell = { shell_id: ShellId };

export const shellOperations = {
  "shell.create": {
    http: "POST /v1/shells",
    summary: "Make a shell: a bash state that runs start from and save back to.",
    role: "operator",
    answers: "json",
    runs: "owner",
    status: 201,
    input: z.strictObject({
      work_dir: SystemText.min(1).max(limits.path_bytes).optional(),
      env: Environment.optional(),
      workspace_id: WorkspaceId.optional(),
    }),
    output: Shell,
    faults: ["invalid_request", "workspace_not_found", "too_many", "spawn_failed"],
  },
  "shell.list": {
    http: "GET /v1/shells",
    summary: "List shells, the newest first.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({ ...ListPage, workspace_id: WorkspaceId.optional() }),
    output: z.strictObject({ shells: z.array(Shell), cursor: z.string().nullable() }),
    faults: ["invalid_request", "workspace_not_found"],
  },
  "shell.get": {
    http: "GET /v1/shells/:shell_id",
    summary: "Read one shell.",
    role: "viewer",
    answers: "json",
    runs: "owner",
    input: z.strictObject(byShell),
    output: Shell,
    faults: ["shell_not_found"],
  },
  "shell.close": {
    http: "DELETE /v1/shells/:shell_id",
    summary: "Forget a shell's state and end its run.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject(byShell),
    output: Done,
    faults: ["shell_not_found"],
  },
  "shell.run": {
    http: "POST /v1/shells/:shell_id/run",
    summary: "Run a command in a shell and follow what it prints until it ends.",
    role: "operator",
    answers: "stream",
    runs: "owner",
    input: z.strictObject({
      ...byShell,
      command: SystemText.min(1).max(limits.body_bytes),
      timeout_ms: z.int().min(1).max(limits.duration_ms).optional(),
    }),
    output: ShellEvent,
    faults: ["shell_not_found", "busy", "spawn_failed", "invalid_request"],
  },
} as const satisfies Record<string, OperationSpec>;
