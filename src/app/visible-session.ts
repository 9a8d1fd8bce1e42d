import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import type { SessionHandle, SessionHost, SessionHosts } from "#session/session-host.ts";
import { maySee, type Who } from "./caller.ts";

/** The session, if the caller may see it; a foreign one is answered as one that does not exist. */
export async function getVisibleSession(
  hosts: SessionHosts,
  caller: Who,
  sessionId: string,
): Promise<Session> {
  return await askFor(hosts.of(sessionId), caller, sessionId);
}

/**
 * The same, to follow it. Nothing is opened for a caller that may not see the session, and none of what is open already
 * is used, so that the time of the refusal tells nothing.
 */
export async function openVisible(
  hosts: SessionHosts,
  caller: Who,
  sessionId: string,
): Promise<SessionHandle> {
  const host = hosts.of(sessionId);
  const open = host.find(sessionId);
  const isKnown = open !== undefined && maySee(caller, open.workspace_id);
  // A caller that sees every workspace learns nothing from the time.
  if (!isKnown && caller.workspaces !== "*") await askFor(host, caller, sessionId);
  return await host.open(sessionId).catch(asOurs(() => sessionNotFound(sessionId)));
}

/** An id of the right form that no session has. */
const NOWHERE = "ses_0000000000000000";
/** The most for each host; beyond it the oldest are asked for once more. */
const FOREIGN_KEPT = 1000;
/** The workspaces of sessions that were refused; a session never moves to another. */
const foreign = new WeakMap<SessionHost, BoundedMap<string, string>>();

/**
 * A host finds a session faster than it finds that there is none. So for one that is known to be foreign it is asked for
 * one that does not exist, and both refusals take the same way at the same cost.
 */
async function askFor(host: SessionHost, caller: Who, sessionId: string): Promise<Session> {
  const known = foreign.get(host) ?? new BoundedMap<string, string>(FOREIGN_KEPT);
  foreign.set(host, known);
  const workspace = known.get(sessionId);
  const isForeign = workspace !== undefined && !maySee(caller, workspace);
  const session = await host
    .call("session.get", { session_id: isForeign ? NOWHERE : sessionId })
    .catch(asOurs(() => sessionNotFound(sessionId)));
  if (maySee(caller, session.workspace_id)) return session;
  known.set(sessionId, session.workspace_id);
  throw sessionNotFound(sessionId);
}

export function sessionNotFound(sessionId: string): Fault {
  return new Fault("session_not_found", `there is no session ${sessionId}`, {
    details: { session_id: sessionId },
  });
}

/** The host's refusal in our own words, so that unknown and foreign sound the same. */
export function asOurs(notFound: () => Fault): (error: unknown) => never {
  return (error) => {
    if (error instanceof Fault && error.code === "session_not_found") throw notFound();
    throw error;
  };
}
