import { Fault } from "#contract/fault.ts";
import type { WorkspaceId } from "#contract/ids.ts";
import type { Role, WorkspaceScope } from "#contract/token.ts";

/** The caller of an operation: its rights, its environment, and the labels that its sessions get. */
export interface Caller {
  readonly user_id: string | undefined;
  /** Undefined for the cli without a server. */
  readonly token_id: string | undefined;
  /** The browser's cookie, when the caller has one; it ends before its token does. */
  readonly cookie_id?: string | undefined;
  readonly role: Role;
  readonly workspaces: WorkspaceScope;
  /** The workspace of everything that the caller creates without naming one. */
  readonly workspace_id: WorkspaceId;
  /** The environment of its children: the caller's own, or the part of the server's that a remote caller gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly work_dir: string;
  readonly umask: number | undefined;
  /**
   * Whose processes the tools for models start and see; the others do not exist for them. Absent = its processes
   * belong to its token, and it sees all of its workspaces.
   */
  readonly process_owner?: string | undefined;
  /** The agent session for which it acts: what the tools for models start is a child of it. */
  readonly parent_session_id?: string | undefined;
  /** Its soft limit of open files. */
  readonly open_files?: number | undefined;
}

export function maySee(caller: Pick<Caller, "workspaces">, workspaceId: string): boolean {
  return caller.workspaces === "*" || caller.workspaces.some((id) => id === workspaceId);
}

/** The workspace that was named, or the caller's own. One that it may not see is one that does not exist. */
export function chooseWorkspace(caller: Caller, named: string | undefined): string {
  const chosen = named ?? caller.workspace_id;
  if (maySee(caller, chosen)) return chosen;
  throw workspaceNotFound(chosen);
}

export function workspaceNotFound(workspaceId: string): Fault {
  return new Fault("workspace_not_found", `there is no workspace ${workspaceId}`, {
    details: { workspace_id: workspaceId },
  });
}
