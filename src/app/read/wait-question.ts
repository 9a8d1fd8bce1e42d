import { QuestionCursor } from "#app/live/open-questions.ts";
import { hasEnded, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { hostGone, type WaitEnding } from "./wait-scan.ts";

/** True once the agent waits for an answer; one that was closed for good waits for none. */
export async function waitForQuestion(handle: SessionHandle, ending: WaitEnding): Promise<boolean> {
  const { events, session } = handle;
  if (session.kind !== "agent")
    throw new Fault(
      "unsupported",
      `only an agent asks questions, and ${session.session_id} is a ${session.kind}; wait for its output instead`,
    );
  const cursor = new QuestionCursor();
  for (;;) {
    const isEnd = isOver(handle);
    const isClosed = handle.state === "closed";
    const to = isClosed ? Math.max(handle.eventsTail, events.tail()) : handle.eventsTail;
    await cursor.read(events, to, () => ending.throwIfAborted());
    const { isAsking } = cursor;
    if (isEnd || isAsking || ending.isOver) return isAsking && !isEnd;
    if (isClosed) throw hostGone(session.session_id);
    await handle.until(({ eventsTail }) => eventsTail > to || isOver(handle), {
      signal: ending.signal,
    });
  }
}

/** For good: an agent that is parked may still ask. */
function isOver({ session }: SessionHandle): boolean {
  return hasEnded(session) && !isResumable(session);
}
