import { openControlOrWatch } from "#app/attach/attached-control.ts";
import { Attachment, type AttachmentPeer } from "#app/attach/attachment.ts";
import { InProcessSocket } from "#app/attach/in-process-socket.ts";
import type { Caller } from "#app/caller.ts";
import { systemClock } from "#base/clock.ts";
import { type AttachOptions, openAttachment } from "#client/attach/attachment.ts";
import type { Client } from "#client/client.ts";
import { pause } from "#client/transport/backoff.ts";
import { Fault } from "#contract/fault.ts";
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
    const socket = (_name: string, query: Query) =>
      new InProcessSocket(async (peer) => {
        const handle = await open();
        wasConnected = true;
        return await openOwn(deps, handle, { ...query, reads, peer });
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

/** The attachment owns the handle. */
async function openOwn(
  { hosts, caller, viewer, screens }: OwnAttachDeps,
  handle: SessionHandle,
  { peer, ...query }: Query & { readonly peer: AttachmentPeer },
): Promise<Attachment> {
  using stack = new DisposableStack();
  stack.use(handle);
  const { role = "viewer", takeover = false, since: asked = handle.output.first(), reads } = query;
  const since = asked === "tail" ? handle.tail : asked;
  // Throws `offset_out_of_range`.
  if (since < 0 || since > handle.tail) handle.output.read(since, { limit: 1 });
  const paint = query.paint === true ? await screens() : undefined;
  const { session_id } = handle.session;
  const deps = { host: hosts.of(session_id), caller, audit: { record: () => undefined }, viewer };
  const open = async () =>
    reads === undefined
      ? await openControlOrWatch(deps, handle.session, { role, takeover })
      : undefined;
  const options = { caller, handle, since, paint, clock: systemClock, until: reads, open };
  stack.move();
  return new Attachment(options, peer);
}
