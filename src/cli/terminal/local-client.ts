import { openControlOrWatch } from "#app/attach/attached-control.ts";
import { Attachment, type AttachmentPeer } from "#app/attach/attachment.ts";
import { InProcessSocket } from "#app/attach/in-process-socket.ts";
import { systemClock } from "#base/clock.ts";
import { describeCaller, type Local, viewerName } from "#cli/context.ts";
import {
  type AttachOptions,
  type Attachment as ClientAttachment,
  openAttachment,
} from "#client/attach/attachment.ts";
import { pause } from "#client/transport/backoff.ts";
import { readRange } from "#log/read-range.ts";
import type { SessionHandle, SessionHost } from "#session/session-host.ts";
import type { SessionClient } from "./session-client.ts";

/** Unread beyond it, the attachment waits for the terminal. */
const QUEUE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** As the query of `session.attach`. */
interface AttachQuery {
  readonly since?: number | "tail" | undefined;
  readonly role?: "viewer" | "controller" | undefined;
  readonly takeover?: boolean | undefined;
}

/** Where an attachment of this process gets its session from. */
export interface LocalSource {
  open(sessionId: string): Promise<SessionHandle>;
  /** Absent: attachments only read, and no viewer is counted. */
  readonly host?: SessionHost | undefined;
  readonly until?: "exit" | "final";
}

/** The typed client's attachment, at an attachment of this process. */
export function attachLocally(
  source: LocalSource,
  sessionId: string,
  options: AttachOptions = {},
): ClientAttachment {
  const socket = (_name: string, query: AttachQuery) =>
    new InProcessSocket((peer) => openInProcess(source, { sessionId, query, peer }));
  const getSession = async () => {
    using handle = await source.open(sessionId);
    return handle.session;
  };
  const deps = { transport: { random: Math.random, pause, socket }, getSession };
  return openAttachment(deps, sessionId, { queueBytes: QUEUE_BYTES, ...options });
}

interface InProcess {
  readonly sessionId: string;
  readonly query: AttachQuery;
  readonly peer: AttachmentPeer;
}

async function openInProcess(
  { open, host, until }: LocalSource,
  { sessionId, query, peer }: InProcess,
): Promise<Attachment> {
  using stack = new DisposableStack();
  const handle = stack.use(await open(sessionId));
  const { role = "viewer", takeover = false, since: asked = handle.output.first() } = query;
  const since = asked === "tail" ? handle.tail : asked;
  // Throws `offset_out_of_range`.
  if (since < 0 || since > handle.tail) handle.output.read(since, { limit: 1 });
  const caller = describeCaller();
  const audit = { record: () => undefined };
  const attach = async () => {
    if (host === undefined) return undefined;
    const deps = { host, caller, audit, viewer: viewerName() };
    return await openControlOrWatch(deps, handle.session, { role, takeover });
  };
  stack.move();
  const options = { caller, handle, since, clock: systemClock, until, open: attach } as const;
  return new Attachment(options, peer);
}

/** The sessions of this machine, without a server. */
export function createLocalClient({ hosts, operations }: Local): SessionClient {
  const open = (sessionId: string) => hosts.of(sessionId).open(sessionId);
  return {
    address: undefined,
    attach: (sessionId, options) =>
      attachLocally({ host: hosts.of(sessionId), open }, sessionId, options),
    follow: (sessionId, options) => attachLocally({ open }, sessionId, options),
    call: (name, input) => {
      // The name says which input it is, and which answer.
      const handle = operations[name] as (of: unknown) => Promise<never>;
      return handle(input);
    },
    history: {
      range: async (sessionId) => {
        using handle = await open(sessionId);
        return { first: handle.output.first(), tail: handle.tail };
      },
      read: async function* (sessionId, from, to) {
        using handle = await open(sessionId);
        yield* readRange(handle.output, from, { to, limit: CHUNK_BYTES });
      },
      repaint: (session_id) => operations["session.signal"]({ session_id, signal: "SIGWINCH" }),
    },
  };
}
