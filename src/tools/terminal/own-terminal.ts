import type { Caller } from "#app/caller.ts";
import { openVisible, sessionNotFound } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

/** Whom what the caller opens belongs to. */
export function ownerOf({ process_owner, token_id }: Caller): string | undefined {
  return process_owner ?? token_id;
}

/** A terminal, if the caller may know of it; somebody else's is answered as one that does not exist. */
export async function openOwnTerminal(
  { hosts }: { readonly hosts: SessionHosts },
  caller: Caller,
  terminalId: string,
): Promise<SessionHandle> {
  using stack = new DisposableStack();
  const handle = stack.use(await openVisible(hosts, caller, terminalId));
  if (caller.process_owner !== undefined) {
    const request = { session_id: terminalId };
    const { labels } = await hosts.of(terminalId).call("session.labels", request);
    if (labels.owner !== caller.process_owner) throw sessionNotFound(terminalId);
  }
  if (handle.session.mode !== "pty") throw noTerminal(terminalId);
  stack.move();
  return handle;
}

function noTerminal(sessionId: string): Fault {
  const message = `terminal_id: ${sessionId} runs without a terminal; read what it prints with session_read or process_output`;
  return new Fault("invalid_request", message, { details: { field: "terminal_id" } });
}
