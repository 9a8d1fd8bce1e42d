import { hasEnded, isFinal } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";
import type { SessionHandle } from "#session/session-host.ts";

export interface FollowOutput {
  readonly since: number;
  /** `now`: what is there. `exit`: all that came before the exit. `final`: until nobody can print any more. */
  readonly until: "now" | "exit" | "final";
  readonly signal?: AbortSignal;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * History and what comes live, in one loop: read up to the tail, then wait for it to move. When the host goes away
 * the rest of the files is read, and the caller sees it in `handle.state`.
 */
export async function* followOutput(
  handle: SessionHandle,
  { since, until, signal }: FollowOutput,
): AsyncGenerator<LogChunk, void, void> {
  const waiting = defined({ signal });
  const { output } = handle;
  let next = since;
  for (;;) {
    const isClosed = handle.state === "closed";
    // The state before the tail: an exit that we know of has told its tail before.
    const isLastLook = isClosed || until === "now" || isOver(handle.session, until);
    const tail = isClosed ? Math.max(handle.tail, output.tail()) : handle.tail;
    for await (const chunk of readRange(output, next, { to: tail, limit: CHUNK_BYTES })) {
      if (signal?.aborted === true) return;
      yield chunk;
      next = endOf(chunk);
    }
    if (isLastLook || signal?.aborted === true) return;
    const reached = next;
    await handle.until(
      ({ tail: moved, session }) => moved > reached || isOver(session, until),
      waiting,
    );
  }
}

function isOver(session: Session, until: FollowOutput["until"]): boolean {
  return until === "exit" ? hasEnded(session) : isFinal(session);
}
