import * as z from "zod";
import type { Who } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import { unfinishedBytes } from "#base/utf8.ts";
import { isLive } from "#contract/ended.ts";
import type { Shell } from "#contract/shell.ts";
import { checkSince } from "#http/socket/attach.ts";
import type { SocketDeps, SocketPlan } from "#http/socket/socket-plan.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { getShell } from "./execd-context.ts";
import { pastTheEnd } from "./execd-sessions.ts";
import { ExecdSocket, openController } from "./execd-socket.ts";
import { closeInteractive, findInteractive, startInteractive } from "./interactive-shell.ts";

/**
 * `/ws/session/{id}`: the one client that steers the interactive shell of a session.
 *
 *   replay …      with `since`: what was printed from there to the moment of the attach, at least one
 *   connected     then everything is live
 *   stdout, stderr, error, pong
 *   exit          all output was sent before it; the socket closes
 */
export const ExecdSocketQuery = z.strictObject({
  id: z.string(),
  since: z.int().min(0).optional(),
  pty: z.boolean().optional(),
  takeover: z.boolean().optional(),
});
export type ExecdSocketQuery = z.infer<typeof ExecdSocketQuery>;

/** More than any unfinished character. */
const END_BYTES = 4;

/**
 * Before the upgrade: what can be refused, and the first start. Control that is free is taken here, so that of two who
 * come at once one is refused with a status; it is given back if the handshake fails. A takeover waits for the handshake.
 */
export async function planExecdSocket(
  deps: SocketDeps,
  caller: Who,
  query: ExecdSocketQuery,
): Promise<SocketPlan> {
  const { gateway } = deps;
  const shell = await getShell(gateway.operations(caller), query.id);
  const { session_id, isFirst } = await reach(deps, caller, { shell, query });
  using stack = new DisposableStack();
  const handle = stack.use(await openVisible(gateway.hosts, caller, session_id));
  const now = isFirst ? 0 : wholeTail(handle);
  const since = query.since === undefined ? now : checkSince(handle, query.since);
  const replayEnd = query.since === undefined ? since : Math.max(since, wholeTail(handle));
  const { takeover = false } = query;
  const { session } = handle;
  const request = { caller, session, takeover };
  const controller = takeover ? undefined : await openController(deps, request);
  stack.defer(() => void controller?.[Symbol.asyncDispose]());
  const owned = stack.move();
  const isReplay = query.since !== undefined;
  const attaching = { caller, handle, shell, since, replayEnd, isReplay, takeover, controller };
  return {
    protocols: [],
    open: (handshaken) => {
      const opened = new ExecdSocket(deps, { ...attaching, ...handshaken });
      opened.start();
      return opened;
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

interface Reaching {
  readonly shell: Shell;
  readonly query: ExecdSocketQuery;
}

/** The interactive shell, started when nobody has done so before. */
async function reach(
  { gateway }: SocketDeps,
  caller: Who,
  { shell, query: { since = 0, pty = false } }: Reaching,
): Promise<{ readonly session_id: string; readonly isFirst: boolean }> {
  const found = await findInteractive(gateway, shell);
  if (found !== undefined) return { session_id: found.session_id, isFirst: false };
  if (since > 0) throw pastTheEnd(since, 0);
  const { session_id } = await startInteractive(gateway, caller, { shell, pty });
  try {
    await getShell(gateway.operations(caller), shell.shell_id);
  } catch (error) {
    // Deleted meanwhile, by somebody who has not seen what we started.
    await closeInteractive(gateway, caller, shell);
    throw error;
  }
  return { session_id, isFirst: true };
}

/** The end, but for a character whose rest has not been printed. */
function wholeTail({ output, tail, session }: SessionHandle): number {
  if (!isLive(session)) return Math.max(tail, output.tail());
  let rest = 0;
  for (let next = Math.max(output.first(), tail - END_BYTES); next < tail; ) {
    const chunk = output.read(next, { limit: END_BYTES, tail });
    if (chunk === undefined) break;
    next = chunk.kind === "gap" ? chunk.to : chunk.offset + chunk.bytes.length;
    rest = chunk.kind === "gap" ? 0 : unfinishedBytes(chunk.bytes);
  }
  return tail - rest;
}
