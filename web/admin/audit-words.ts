import type { AuditAction, AuditEntry } from "#contract/operations/audit.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";

/** What was done, as it follows a name. The compiler sees to it that none is missing. */
export const ACTION_WORDS: Readonly<Record<AuditAction, string>> = {
  "session.opened": "opened a session",
  "session.attached": "began to watch",
  "session.detached": "stopped watching",
  "session.wrote": "typed",
  "session.resized": "resized the terminal",
  "session.renamed": "renamed the session",
  "session.signalled": "sent a signal",
  "session.taken_over": "took control",
  "session.closed": "closed the session",
  "session.ended": "ended the session",
  "session.removed": "removed the session",
  "agent.created": "started an agent",
  "agent.sent": "spoke to the agent",
  "agent.interrupted": "interrupted the agent",
  "agent.approved": "approved a call",
  "agent.rejected": "rejected a call",
  "agent.answered": "answered a question",
  "agent.changed": "changed the agent",
  "agent.permitted": "changed its permissions",
  "agent.forked": "forked the agent",
  "shell.opened": "opened a shell",
  "shell.ran": "ran a command in a shell",
  "shell.closed": "closed a shell",
  "workspace.created": "made a workspace",
  "workspace.changed": "changed a workspace",
  "workspace.removed": "removed a workspace",
  "task.created": "made a task",
  "task.changed": "changed a task",
  "task.removed": "removed a task",
  "token.created": "made a token",
  "token.revoked": "revoked a token",
  "ticket.created": "made a ticket",
  "ticket.exchanged": "came in by a ticket",
  "caller.logged_out": "logged out",
};

/** A newer server may know of more than this page does. */
export function sayAction(action: string): string {
  return Object.hasOwn(ACTION_WORDS, action) ? ACTION_WORDS[action as AuditAction] : action;
}

const DETAIL_CHARS = 120;
const DETAILS_SHOWN = 8;

export function listDetails({ details }: Pick<AuditEntry, "details">): readonly string[] {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .slice(0, DETAILS_SHOWN)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${formatDetail(value)}`);
}

export function isSessionId(id: string | null): id is string {
  return id !== null && /^ses_[0-9a-z]{16}$/.test(id);
}

export interface AuditFilter {
  readonly user_id: string;
  readonly action: string;
  readonly target_id: string;
  readonly workspace_id: string;
}

export const NO_FILTER: AuditFilter = { user_id: "", action: "", target_id: "", workspace_id: "" };

/** Only what somebody filled in. */
export function describeFilter(filter: AuditFilter): Partial<AuditFilter> {
  const filled = Object.entries(filter).map(([name, text]) => [name, text.trim()] as const);
  return Object.fromEntries(filled.filter(([, text]) => text !== ""));
}

function formatDetail(value: unknown): string {
  const raw = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const text = revealHidden(raw, "decision");
  return text.length <= DETAIL_CHARS ? text : `${text.slice(0, DETAIL_CHARS)}…`;
}
