import { Fault } from "#contract/fault.ts";
import type { WorkspaceId } from "#contract/ids.ts";
import type { Role, WorkspaceScope } from "#contract/token.ts";

/** The person or program that asks: its rights, and the labels of its sessions. The gateway says it, and it means the same on every machine. */
export interface Who {
  readonly user_id: string | undefined;
  /** Undefined for the cli without a server. */
  readonly token_id: string | undefined;
  /** The browser's cookie, when the caller has one; it ends before its token does. */
  readonly cookie_id?: string | undefined;
  readonly role: Role;
  readonly workspaces: WorkspaceScope;
  /** The workspace of everything that the caller creates without naming one. */
  readonly workspace_id: WorkspaceId;
  /**
   * Whose processes the tools for models start and see; the others do not exist for them. Absent = its processes
   * belong to its token, and it sees all of its workspaces.
   */
  readonly process_owner?: string | undefined;
  /** The agent session for which it acts: what the tools for models start is a child of it. */
  readonly parent_session_id?: string | undefined;
}

/**
 * The place of an operation, added by the process that runs it, beside the session's log. Directories, commands, the
 * files of teams and keys are looked up by it.
 */
export interface Where {
  /** The environment of children: the user's own, or the part of the server's that a remote caller gets. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory in which children start, and the base of relative paths. */
  readonly work_dir: string;
  readonly umask: number | undefined;
  /** The soft limit of open files. */
  readonly open_files?: number | undefined;
}

/** The caller of an operation. */
export interface Caller extends Who {
  readonly where: Where;
}

export function maySee({ workspaces }: Pick<Who, "workspaces">, workspaceId: string): boolean {
  return workspaces === "*" || workspaces.some((id) => id === workspaceId);
}

/** The workspace that was named, or the caller's own. One that it may not see is one that does not exist. */
export function chooseWorkspace(who: Who, named: string | undefined): string {
  const chosen = named ?? who.workspace_id;
  if (maySee(who, chosen)) return chosen;
  throw workspaceNotFound(chosen);
}

export function workspaceNotFound(workspaceId: string): Fault {
  return new Fault("workspace_not_found", `there is no workspace ${workspaceId}`, {
    details: { workspace_id: workspaceId },
  });
}
