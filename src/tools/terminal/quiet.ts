import { hostGone } from "#app/read/wait-scan.ts";
import type { Clock } from "#base/clock.ts";
import { isFinal } from "#contract/ended.ts";
import type { SessionHandle } from "#session/session-host.ts";

/** One who listens to a session until his signal comes. */
interface Listening {
  readonly handle: SessionHandle;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Until nothing has been printed for so long, counted from now or from the last output; false when the signal came
 * first. What can print no more is quiet.
 */
export async function waitForQuiet(listening: Listening, quietMs: number): Promise<boolean> {
  const { handle, signal } = listening;
  while (!signal.aborted) {
    if (isFinal(handle.session)) return true;
    const heard = await waitForOutput(listening, { beyond: handle.tail, longestMs: quietMs });
    if (!heard && !signal.aborted && !isFinal(handle.session)) return true;
  }
  return false;
}

/** Whether something was printed behind an offset before the time was over, the signal came or the end. */
export async function waitForOutput(
  { handle, clock, signal }: Listening,
  { beyond, longestMs }: { readonly beyond: number; readonly longestMs: number },
): Promise<boolean> {
  const silence = new AbortController();
  using _timer = clock.timer(longestMs, () => silence.abort());
  await handle.until(({ tail, session }) => tail > beyond || isFinal(session), {
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (handle.tail > beyond) return true;
  const isOver = silence.signal.aborted || signal.aborted || isFinal(handle.session);
  if (handle.state === "closed" && !isOver) throw hostGone(handle.session.session_id);
  return false;
}
