import { isLive, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import type { HostSession } from "#host/session/host-session.ts";
import type { SessionRecord } from "#host/session/session-record.ts";

export interface Renaming {
  readonly session_id: string;
  readonly title?: string | undefined;
  /** Null takes the name away. */
  readonly name?: string | null | undefined;
}

/**
 * Throws `conflict` when another live session of the workspace has the name. An agent that may be started again keeps
 * its name. The fault does not say which session it is: the connection may not see it.
 */
export function checkName(
  all: readonly HostSession[],
  name: string,
  { session_id, labels }: Pick<SessionRecord, "session_id" | "labels">,
): void {
  const isTaken = all.some(
    ({ record }) =>
      record.name === name &&
      record.session_id !== session_id &&
      workspaceOf(record) === workspaceOf({ labels }) &&
      (isLive(record) || isResumable(record)),
  );
  if (!isTaken) return;
  throw new Fault(
    "conflict",
    `the name ${name} is taken in this workspace. Choose another, or close the session that has it`,
    { details: { name } },
  );
}

function workspaceOf({ labels }: Pick<SessionRecord, "labels">): string {
  return labels.workspace_id ?? LOCAL_WORKSPACE;
}
