import { QuestionCursor } from "#app/live/open-questions.ts";
import { hasEnded, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { SessionFeed } from "#session/session-feeds.ts";
import { hostGone, type WaitEnding } from "./wait-scan.ts";

/** True once the agent waits for an answer; one that was closed for good waits for none. */
export async function waitForQuestion(feed: SessionFeed, ending: WaitEnding): Promise<boolean> {
  const { watch, events, session } = feed;
  if (session.kind !== "agent")
    throw new Fault(
      "unsupported",
      `only an agent asks questions, and ${session.session_id} is a ${session.kind}; wait for its output instead`,
    );
  const cursor = new QuestionCursor();
  for (;;) {
    const isEnd = isOver(feed);
    const { isClosed } = watch;
    const to = isClosed ? Math.max(watch.eventsTail, events.tail()) : watch.eventsTail;
    await cursor.read(events, to, () => ending.throwIfAborted());
    const { isAsking } = cursor;
    if (isEnd || isAsking || ending.isOver) return isAsking && !isEnd;
    if (isClosed) throw hostGone(session.session_id);
    await watch.until(({ eventsTail }) => eventsTail > to || isOver(feed), {
      signal: ending.signal,
    });
  }
}

/** For good: an agent that is parked may still ask. */
function isOver({ session }: SessionFeed): boolean {
  return hasEnded(session) && !isResumable(session);
}
