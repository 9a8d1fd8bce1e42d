import type { Caller } from "#app/caller.ts";
import { openVisibleFeed, sessionNotFound } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import type { HostLink } from "#session/host-link.ts";
import type { SessionFeed, SessionFeeds } from "#session/session-feeds.ts";

/** Whom what the caller opens belongs to. */
export function ownerOf({ process_owner, token_id }: Caller): string | undefined {
  return process_owner ?? token_id;
}

/** A terminal, if the caller may know of it; somebody else's is answered as one that does not exist. */
export async function openOwnTerminal(
  { link, feeds }: { readonly link: HostLink; readonly feeds: SessionFeeds },
  caller: Caller,
  terminalId: string,
): Promise<SessionFeed> {
  using stack = new DisposableStack();
  const feed = stack.use(await openVisibleFeed(feeds, caller, terminalId));
  if (caller.process_owner !== undefined) {
    const host = await link.connect();
    const { labels } = await host.call("session.labels", { session_id: terminalId });
    if (labels.owner !== caller.process_owner) throw sessionNotFound(terminalId);
  }
  if (feed.session.mode !== "pty") throw noTerminal(terminalId);
  stack.move();
  return feed;
}

function noTerminal(sessionId: string): Fault {
  const message = `terminal_id: ${sessionId} runs without a terminal; read what it prints with session_read or process_output`;
  return new Fault("invalid_request", message, { details: { field: "terminal_id" } });
}
