import * as z from "zod";

const id = (prefix: string) => new RegExp(`^${prefix}_[0-9a-z]{16}$`);

export const SessionId = z
  .string()
  .regex(id("ses"), "a session id looks like ses_0123456789abcdef")
  .brand("SessionId");
export type SessionId = z.infer<typeof SessionId>;

export const TaskId = z
  .string()
  .regex(id("tsk"), "a task id looks like tsk_0123456789abcdef")
  .brand("TaskId");
export type TaskId = z.infer<typeof TaskId>;

export const TokenId = z
  .string()
  .regex(id("tok"), "a token id looks like tok_0123456789abcdef")
  .brand("TokenId");
export type TokenId = z.infer<typeof TokenId>;

export const ShellId = z
  .string()
  .regex(id("shl"), "a shell id looks like shl_0123456789abcdef")
  .brand("ShellId");
export type ShellId = z.infer<typeof ShellId>;

/** `wsp_local` is the workspace of the cli without a server. */
export const WorkspaceId = z
  .string()
  .regex(
    /^wsp_([0-9a-z]{16}|local)$/,
    "a workspace id looks like wsp_0123456789abcdef, or is wsp_local",
  )
  .brand("WorkspaceId");
export type WorkspaceId = z.infer<typeof WorkspaceId>;

// The one value that the code itself knows; it matches the pattern above.
export const LOCAL_WORKSPACE = "wsp_local" as WorkspaceId;
