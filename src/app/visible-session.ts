import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { type Caller, maySee } from "./caller.ts";
import type { HostLink } from "./live/host-link.ts";
import type { SessionFeed, SessionFeeds } from "./live/session-feeds.ts";

/** The session, if the caller may see it; a foreign one is answered as one that does not exist. */
export async function getVisibleSession(
  link: HostLink,
  caller: Caller,
  sessionId: string,
): Promise<Session> {
  const host = await link.connect();
  const session = await host
    .call("session.get", { session_id: sessionId })
    .catch(asOurs(sessionId));
  if (maySee(caller, session.workspace_id)) return session;
  throw sessionNotFound(sessionId);
}

/**
 * The same, to follow it. Nothing is opened for a caller that may not see the session, and none of what is open already
 * is used: a foreign id costs the same question to the host as an unknown one, so the time tells nothing.
 */
export async function openVisibleFeed(
  feeds: SessionFeeds,
  caller: Caller,
  sessionId: string,
): Promise<SessionFeed> {
  const open = feeds.find(sessionId);
  const isKnown = open !== undefined && maySee(caller, open.workspace_id);
  // A caller that sees every workspace learns nothing from the time.
  if (!isKnown && caller.workspaces !== "*") {
    const session = await feeds.get(sessionId).catch(asOurs(sessionId));
    if (!maySee(caller, session.workspace_id)) throw sessionNotFound(sessionId);
  }
  return await feeds.open(sessionId).catch(asOurs(sessionId));
}

export function sessionNotFound(sessionId: string): Fault {
  return new Fault("session_not_found", `there is no session ${sessionId}`, {
    details: { session_id: sessionId },
  });
}

/** In our own words, so that unknown and foreign sound the same. */
function asOurs(sessionId: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Fault && error.code === "session_not_found")
      throw sessionNotFound(sessionId);
    throw error;
  };
}
