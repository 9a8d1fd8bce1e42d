import { hasEnded, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { hostGone, type WaitEnding } from "./wait-scan.ts";

/** True once the agent waits for an answer; one that was closed for good waits for none. */
export async function waitForQuestion(handle: SessionHandle, ending: WaitEnding): Promise<boolean> {
  const { session } = handle;
  if (session.kind !== "agent")
    throw new Fault(
      "unsupported",
      `only an agent asks questions, and ${session.session_id} is a ${session.kind}; wait for its output instead`,
    );
  if (session.status === null)
    throw new Fault(
      "unsupported",
      "the host is older and does not say who asks. Bring it up to date with: reins host upgrade",
    );
  const isDone = (now: Session) => now.needs.length > 0 || isOver(now);
  await handle.until((view) => isDone(view.session) || ending.isOver, { signal: ending.signal });
  const { session: last } = handle;
  if (isDone(last) || ending.isOver) return last.needs.length > 0;
  throw hostGone(session.session_id);
}

/** For good: an agent that sleeps may still ask. */
function isOver(session: Session): boolean {
  return hasEnded(session) && !isResumable(session);
}
