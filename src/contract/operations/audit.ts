import * as z from "zod";
import { WorkspaceId } from "#contract/ids.ts";

export const AuditAction = z.enum([
  "session.opened",
  "session.attached",
  "session.detached",
  "session.wrote",
  "session.resized",
  "session.renamed",
  "session.signalled",
  "session.taken_over",
  "session.closed",
  "session.ended",
  "session.removed",
  "agent.created",
  "agent.sent",
  "agent.interrupted",
  "agent.approved",
  "agent.rejected",
  "agent.answered",
  "agent.changed",
  "agent.permitted",
  "agent.forked",
  "shell.opened",
  "shell.ran",
  "shell.closed",
  "workspace.created",
  "workspace.changed",
  "workspace.removed",
  "task.created",
  "task.changed",
  "task.removed",
  "token.created",
  "token.revoked",
  "ticket.created",
  "ticket.exchanged",
  "caller.logged_out",
]);
export type AuditAction = z.infer<typeof AuditAction>;

/** Who did what and when. Of what was typed it has counts, never the keys. */
export const AuditEntry = z.strictObject({
  audit_id: z.int(),
  at: z.iso.datetime(),
  action: AuditAction,
  user_id: z.string().nullable(),
  token_id: z.string().nullable(),
  workspace_id: WorkspaceId.nullable(),
  /** The session, task, shell, token or workspace that it was done to. */
  target_id: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
