import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { Operations } from "#contract/operations.ts";
import type { Workspace } from "#contract/workspace.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { Store } from "#store/store.ts";
import type { Audit } from "./audit.ts";
import { maySee, type Who, workspaceNotFound } from "./caller.ts";
import type { RemovedWorkspaces } from "./live/removed-workspaces.ts";
import type { Places } from "./session.ts";

export type WorkspaceOperations = Pick<
  Operations,
  "workspace.create" | "workspace.list" | "workspace.get" | "workspace.update" | "workspace.delete"
>;

interface WorkspaceDeps {
  readonly store: Pick<Store, "workspaces">;
  readonly audit: Audit;
  readonly hosts: Pick<SessionHosts, "all">;
  /** Absent in the cli without a server, where no request is under way. */
  readonly removedWorkspaces?: Pick<RemovedWorkspaces, "add"> | undefined;
}

export function createWorkspaceOperations(
  { store, audit, hosts, removedWorkspaces }: WorkspaceDeps,
  caller: Who,
): WorkspaceOperations {
  const { workspaces } = store;
  return {
    "workspace.create": async ({ name }) => {
      // It would be outside of what he may see.
      if (caller.workspaces !== "*")
        throw new Fault("forbidden", "only who sees every workspace may make one");
      const made = workspaces.create(name);
      const { workspace_id } = made;
      const details = { name };
      audit.record({
        ...{ action: "workspace.created", caller, workspace_id, details },
        target_id: workspace_id,
      });
      return made;
    },
    "workspace.list": async ({ limit = limits.list_default, cursor }) => {
      const page = workspaces.list({ limit, cursor, workspaces: caller.workspaces });
      return { workspaces: page.rows, cursor: page.cursor };
    },
    "workspace.get": async ({ workspace_id }) => getWorkspace(store, caller, workspace_id),
    "workspace.update": async ({ workspace_id, name }) => {
      getWorkspace(store, caller, workspace_id);
      const changed = workspaces.rename(workspace_id, name);
      if (changed === undefined) throw workspaceNotFound(workspace_id);
      const details = { name };
      audit.record({
        ...{ action: "workspace.changed", caller, workspace_id, details },
        target_id: workspace_id,
      });
      return changed;
    },
    "workspace.delete": async ({ workspace_id }) => {
      getWorkspace(store, caller, workspace_id);
      if (workspace_id !== LOCAL_WORKSPACE) await refuseWhileLive(hosts, workspace_id);
      const removed = workspaces.remove(workspace_id);
      if (removed === undefined) throw workspaceNotFound(workspace_id);
      removedWorkspaces?.add(workspace_id);
      audit.record({
        ...{ action: "workspace.removed", caller, workspace_id },
        target_id: workspace_id,
      });
      for (const target_id of removed.revoked)
        audit.record({
          ...{ action: "token.revoked", caller, workspace_id, target_id },
          details: { reason: "workspace_removed" },
        });
      return {};
    },
  };
}

/** For sessions: what they can belong to. */
export function createPlaces(store: Pick<Store, "workspaces" | "tasks">): Places {
  return {
    hasWorkspace: (id) => store.workspaces.find(id) !== undefined,
    findTask: (id) => store.tasks.find(id),
  };
}

/** One that the caller may not see is one that does not exist. */
export function getWorkspace(
  store: Pick<Store, "workspaces">,
  caller: Who,
  workspaceId: string,
): Workspace {
  const found = maySee(caller, workspaceId) ? store.workspaces.find(workspaceId) : undefined;
  if (found !== undefined) return found;
  throw workspaceNotFound(workspaceId);
}

async function refuseWhileLive(
  hosts: Pick<SessionHosts, "all">,
  workspaceId: string,
): Promise<void> {
  const [host] = hosts.all();
  const { sessions } = await host.call("session.list", {
    state: "live",
    labels: { workspace_id: workspaceId },
    limit: 1,
  });
  const session_id = sessions[0]?.session_id;
  if (session_id === undefined) return;
  throw new Fault(
    "conflict",
    `the workspace ${workspaceId} still has live sessions, ${session_id} among them; close them first`,
    { details: { workspace_id: workspaceId, session_id } },
  );
}
