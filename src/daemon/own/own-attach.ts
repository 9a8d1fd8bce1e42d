import { openControlOrWatch } from "#app/attach/attached-control.ts";
import { Attachment, type AttachmentPeer } from "#app/attach/attachment.ts";
import { InProcessSocket } from "#app/attach/in-process-socket.ts";
import type { Caller } from "#app/caller.ts";
import { systemClock } from "#base/clock.ts";
import { type AttachOptions, openAttachment } from "#client/attach/attachment.ts";
import type { Client } from "#client/client.ts";
import { pause } from "#client/transport/backoff.ts";
import { Fault } from "#contract/fault.ts";
import { findAttachmentName } from "#contract/terminal/input-frame.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

/** Unread beyond it, the attachment waits for the terminal. */
const QUEUE_BYTES = 1024 * 1024;

export interface OwnAttachDeps {
  readonly hosts: SessionHosts;
  readonly caller: Caller;
  readonly viewer?: string | undefined;
  readonly screens: () => Promise<Screens>;
}

/** As the query of `session.attach`, and what a server does not offer. */
type Query = Pick<AttachOptions, "since" | "role" | "takeover" | "paint" | "reads">;

/** The typed client's attachment, at an attachment of this process. */
export function createOwnAttach(deps: OwnAttachDeps): Client["attach"] {
  return (sessionId, options = {}) => {
    const host = deps.hosts.of(sessionId);
    let wasConnected = false;
    const open = async () => {
      // Another host knows nothing of this one's sessions but their logs, and must not be started to find that out.
      if (wasConnected && host.state !== "open")
        throw new Fault("host_unavailable", "the host has ended");
      return await host.open(sessionId);
    };
    const { reads } = options;
    const socket = (_name: string, query: Query, protocols: readonly string[]) =>
      new InProcessSocket(async (peer) => {
        const handle = await open();
        wasConnected = true;
        const name = findAttachmentName(protocols);
        return await openOwn(deps, handle, { ...query, reads, name, peer });
      });
    const getSession = async () => {
      using handle = await open();
      return handle.session;
    };
    const transport = { random: Math.random, pause, socket };
    const queued = { queueBytes: QUEUE_BYTES, ...options };
    return openAttachment({ transport, getSession }, sessionId, queued);
  };
}

interface Own extends Query {
  /** The client's name for its attachment. */
  readonly name: string | undefined;
  readonly peer: AttachmentPeer;
}

/** The attachment owns the handle. */
export async function openOwn(
  { hosts, caller, viewer, screens }: OwnAttachDeps,
  handle: SessionHandle,
  { peer, name, ...query }: Own,
): Promise<Attachment> {
  using stack = new DisposableStack();
  stack.use(handle);
  const { role = "viewer", takeover = false, since: asked = handle.output.first(), reads } = query;
  const since = asked === "tail" ? handle.tail : asked;
  // Throws `offset_out_of_range`.
  if (since < 0 || since > handle.tail) handle.output.read(since, { limit: 1 });
  const paint = query.paint === true ? await screens() : undefined;
  const { session_id } = handle.session;
  const host = hosts.of(session_id);
  const deps = { host, caller, audit: { record: () => undefined }, viewer };
  const open = async () => {
    if (reads !== undefined) return undefined;
    const numbered = (await host.knows("numbered")) ? { name } : {};
    return await openControlOrWatch(deps, handle.session, { role, takeover, ...numbered });
  };
  const options = { caller, handle, since, paint, clock: systemClock, until: reads, open };
  stack.move();
  return new Attachment(options, peer);
}
