import { join } from "node:path";
import { hasEnded, isFinal } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import type { Watch } from "#host/socket/watch.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";

export interface FollowOutput {
  readonly since: number;
  /** `now`: what is there. `exit`: all that came before the exit. `final`: until nobody can print any more. */
  readonly until: "now" | "exit" | "final";
  readonly signal?: AbortSignal;
}

const CHUNK_BYTES = 64 * 1024;

/** The log of a session's output, read from its files. */
export function openOutput(sessionsFolder: string, sessionId: string): LogFiles {
  return openLogFiles(join(sessionsFolder, sessionId, "output"));
}

/**
 * History and what comes live, in one loop: read up to the tail, then wait for it to move. When the host goes away
 * the rest of the files is read, and the caller sees it in `watch.isClosed`.
 */
export async function* followOutput(
  source: LogFiles,
  watch: Watch,
  { since, until, signal }: FollowOutput,
): AsyncGenerator<LogChunk, void, void> {
  const waiting = signal === undefined ? {} : { signal };
  let next = since;
  for (;;) {
    // The state before the tail: an exit that we know of has told its tail before.
    const isLastLook = watch.isClosed || until === "now" || isOver(watch.session, until);
    const tail = watch.isClosed ? Math.max(watch.tail, source.tail()) : watch.tail;
    for await (const chunk of readRange(source, next, { to: tail, limit: CHUNK_BYTES })) {
      if (signal?.aborted === true) return;
      yield chunk;
      next = endOf(chunk);
    }
    if (isLastLook || signal?.aborted === true) return;
    const reached = next;
    await watch.until(
      ({ tail: moved, session }) => moved > reached || isOver(session, until),
      waiting,
    );
  }
}

function isOver(session: Session, until: FollowOutput["until"]): boolean {
  return until === "exit" ? hasEnded(session) : isFinal(session);
}
