import type { Emitter } from "#base/emitter.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { isWithin } from "#host/session-tree.ts";
import type { CreateRequest } from "#host/sessions/create-request.ts";
import { type Removal, type Sessions, sessionNotFound } from "#host/sessions/sessions.ts";
import type { HostHealth } from "./methods.ts";

/** The sessions that a connection may use: all of them, or one tree. */
export interface SessionsAccess
  extends Pick<
    Sessions,
    "all" | "find" | "get" | "create" | "rename" | "revive" | "close" | "purge" | "shutdown"
  > {
  readonly changes: Pick<Emitter<string>, "on">;
  readonly removals: Pick<Emitter<Removal>, "on">;
}

/** Everything that the handlers of a connection are given. */
export interface HostAccess {
  readonly sessions: SessionsAccess;
  readonly health: () => HostHealth;
  readonly shutdown: () => void;
  /** Returns only when it failed. */
  readonly upgrade: (command: readonly string[]) => Promise<never>;
}

/**
 * The host as one session may use it: that session and what descends from it. Everything else does not exist. This is
 * the only place that knows the difference; see docs/adr/0012-bound-connections.md.
 */
export function createBoundAccess(access: HostAccess, root: string): HostAccess {
  const sessions = createBoundSessions(access.sessions, root);
  return {
    sessions,
    health: () => describeTree(access.health(), sessions),
    shutdown: () => {
      throw forbidden(root);
    },
    upgrade: () => Promise.reject(forbidden(root)),
  };
}

function createBoundSessions(sessions: SessionsAccess, root: string): SessionsAccess {
  const find: SessionsAccess["find"] = (sessionId) => {
    const session = sessions.find(sessionId);
    return session !== undefined && isVisible(session.record) ? session : undefined;
  };
  const get: SessionsAccess["get"] = (sessionId) => {
    const session = find(sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  };
  const findRecord = (sessionId: string) => sessions.find(sessionId)?.record;
  const isVisible = (record: NonNullable<ReturnType<typeof findRecord>>) =>
    isWithin(record, root, findRecord);
  const isOwnRemoval = ({ session_id, parent_session_id: parent }: Removal) =>
    session_id === root || (parent !== null && find(parent) !== undefined);
  const removals: SessionsAccess["removals"] = {
    on: (listener) =>
      sessions.removals.on((removal) => {
        if (isOwnRemoval(removal)) listener(removal);
      }),
  };
  return {
    find,
    get,
    all: () => sessions.all().filter(({ record }) => isVisible(record)),
    create: async (request) => {
      const parent = get(request.parent_session_id ?? root).id;
      return await sessions.create({
        ...request,
        parent_session_id: parent,
        labels: withWorkspace(request.labels, get(root).record.labels.workspace_id),
      });
    },
    rename: (change) => sessions.rename({ ...change, session_id: get(change.session_id).id }),
    revive: async (request) =>
      await sessions.revive({ ...request, session_id: get(request.session_id).id }),
    close: async (sessionId, reason, detail) =>
      await sessions.close(get(sessionId).id, reason, detail),
    purge: async (sessionId) => await sessions.purge(get(sessionId).id),
    shutdown: () => Promise.reject(forbidden(root)),
    removals,
    changes: {
      on: (listener) => {
        using stack = new DisposableStack();
        // Their last change comes when they are no longer there to be asked whose they were.
        const removed = new Set<string>();
        stack.use(removals.on(({ session_id }) => void removed.add(session_id)));
        stack.use(
          sessions.changes.on((sessionId) => {
            if (removed.delete(sessionId) || find(sessionId) !== undefined) listener(sessionId);
          }),
        );
        return stack.move();
      },
    },
  };
}

/** A session belongs to the workspace of the session that made it. */
function withWorkspace(
  { workspace_id: _, ...labels }: NonNullable<CreateRequest["labels"]> = {},
  workspace: string | undefined,
): Record<string, string> {
  const forced = workspace === undefined ? labels : { ...labels, workspace_id: workspace };
  if (Object.keys(forced).length <= limits.labels) return forced;
  throw new Fault(
    "invalid_request",
    `labels: at most ${limits.labels} labels, workspace_id included`,
  );
}

/** The number and the errors of other sessions are not shown. */
function describeTree(health: HostHealth, sessions: SessionsAccess): HostHealth {
  const all = sessions.all();
  return {
    ...health,
    sessions: all.length,
    live: all.filter(({ isLive }) => isLive).length,
    log_faults: all.filter(({ logFault }) => logFault !== undefined).length,
    connections: 1,
    errors: 0,
    last_error: null,
    unreadable: [],
  };
}

function forbidden(root: string): Fault {
  return new Fault(
    "forbidden",
    `this connection belongs to session ${root}, which may not stop or upgrade the host`,
    { details: { session_id: root } },
  );
}
