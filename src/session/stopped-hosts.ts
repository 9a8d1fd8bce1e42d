import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostList } from "#host/socket/methods.ts";
import { onlyHost } from "./local-host.ts";
import type { HostCall, SessionHost, SessionHosts } from "./session-host.ts";
import { openStoppedSession } from "./shared-sessions.ts";

/** Sessions that no host serves: they can be listed and read, and nothing lives. */
export function createStoppedHosts(
  sessions: readonly Session[],
  sessionsFolder: string,
): SessionHosts {
  const get = (sessionId: string): Session => {
    const found = sessions.find(({ session_id }) => session_id === sessionId);
    if (found !== undefined) return found;
    throw new Fault("session_not_found", `there is no session ${sessionId}`);
  };
  const answers: Partial<Record<HostCall, (params: never) => unknown>> = {
    "session.get": ({ session_id }: { readonly session_id: string }) => get(session_id),
    "session.list": (filters: HostList) => ({ sessions: list(sessions, filters), cursor: null }),
  };
  const host: SessionHost = {
    state: "unreachable",
    followed: 0,
    connect: async () => refuse(),
    // The method says which parameters it has, and which answer.
    call: async (method, params) => (answers[method] ?? refuse)(params as never) as never,
    knows: async () => refuse(),
    health: async () => undefined,
    open: async (sessionId) => openStoppedSession(get(sessionId), sessionsFolder),
    find: () => undefined,
    attach: async () => refuse(),
    watchAll: () => ({ [Symbol.dispose]: () => undefined }),
  };
  return onlyHost(host);
}

function list(sessions: readonly Session[], { state, kind, q = "" }: HostList): Session[] {
  return sessions.filter(
    (session) =>
      (state === undefined || session.state.kind === state) &&
      (kind === undefined || session.kind === kind) &&
      session.session_id.includes(q),
  );
}

function refuse(): never {
  throw new Fault("host_unavailable", "no host serves these sessions; they can only be read");
}
