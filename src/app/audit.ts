import type { Clock } from "#base/clock.ts";
import { type Logger, silentLogger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { EndReason, RemovalReason } from "#contract/session-state.ts";
import type { WorkspaceScope } from "#contract/token.ts";
import { defined } from "#contract/values/defined.ts";
import type { AuditDetails, AuditFact } from "#store/audit.ts";
import type { Store } from "#store/store.ts";
import { chooseWorkspace, type Who } from "./caller.ts";

export interface AuditedAction {
  readonly action: AuditAction;
  readonly caller: Pick<Who, "user_id" | "token_id">;
  readonly workspace_id?: string | undefined;
  readonly target_id?: string | undefined;
  /** Counts and names; never a secret, what was typed or what was printed. */
  readonly details?: AuditDetails | undefined;
}

export interface Audit {
  /** Never throws: what was done is done, whether or not it can be written down. */
  record(done: AuditedAction): void;
}

/** Actions without a caller: the host acts by a rule, or because a program asked it without a server. */
interface HostAudit {
  /** One row for each end that a rule or a person caused, however often it is seen. */
  ended(session: Session): void;
  /** An older host does not tell the reason. */
  removed(session: Session, reason: RemovalReason | undefined): void;
}

/** When a program ended by itself, or never ran, the session's own state tells enough. */
const OWN_ENDS: readonly EndReason[] = ["exited", "spawn_failed"];

export function createAudit(
  store: Pick<Store, "audit">,
  clock: Clock,
  log: Logger = silentLogger,
): Audit {
  return {
    record: ({ action, caller, workspace_id, target_id, details = {} }) => {
      const at = new Date(clock.now()).toISOString();
      const { user_id = null, token_id = null } = caller;
      const where = { workspace_id: workspace_id ?? null, target_id: target_id ?? null };
      try {
        store.audit.insert({ at, action, user_id, token_id, ...where, details });
      } catch (error) {
        log.error("an action could not be audited", { action, user_id, ...where, error });
      }
    },
  };
}

export function createHostAudit(
  store: Pick<Store, "audit">,
  clock: Clock,
  log: Logger = silentLogger,
): HostAudit {
  const write = (fact: Pick<AuditFact, "at" | "action" | "details">, session: Session) => {
    const { session_id: target_id, workspace_id } = session;
    try {
      store.audit.insertOnce({ ...fact, user_id: null, token_id: null, workspace_id, target_id });
    } catch (error) {
      log.error("an end could not be audited", { action: fact.action, target_id, error });
    }
  };
  return {
    ended: (session) => {
      const { state, exited_at } = session;
      if (state.kind !== "exited" || exited_at === null || OWN_ENDS.includes(state.reason)) return;
      const { reason, exit_code, signal, detail } = state;
      const details = { reason, exit_code, signal, ...defined({ detail }) };
      write({ at: exited_at, action: "session.ended", details }, session);
    },
    removed: (session, reason) => {
      const at = new Date(clock.now()).toISOString();
      const { exited_at } = session;
      const details = { ...defined({ reason }), exited_at };
      write({ at, action: "session.removed", details }, session);
    },
  };
}

export function createAuditOperations(
  { store }: { readonly store: Pick<Store, "audit"> },
  caller: Who,
): Pick<Operations, "audit.list"> {
  return {
    "audit.list": async ({ workspace_id, limit = limits.list_default, ...query }) => {
      // Not looked up in the store: what was done in a workspace is still to be read when that is gone.
      const chosen = workspace_id === undefined ? undefined : chooseWorkspace(caller, workspace_id);
      const { workspaces } = caller;
      const page = store.audit.list({ ...query, limit, workspaces, workspace_id: chosen });
      return { entries: page.rows, cursor: page.cursor };
    },
  };
}

/** Where an action on a token belongs: to its workspace if it has one alone, else to those who see all. */
export function onlyWorkspace(workspaces: WorkspaceScope): string | undefined {
  return workspaces !== "*" && workspaces.length === 1 ? workspaces[0] : undefined;
}
