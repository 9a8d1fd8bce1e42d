import { hostGone } from "#app/read/wait-scan.ts";
import type { Clock } from "#base/clock.ts";
import { isFinal } from "#contract/ended.ts";
import type { SessionFeed } from "#session/session-feeds.ts";

/** One who listens to a session until his signal comes. */
export interface Listening {
  readonly feed: SessionFeed;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Until nothing has been printed for so long, counted from now or from the last output; false when the signal came
 * first. What can print no more is quiet.
 */
export async function waitForQuiet(listening: Listening, quietMs: number): Promise<boolean> {
  const { feed, signal } = listening;
  while (!signal.aborted) {
    if (isFinal(feed.session)) return true;
    const heard = await waitForOutput(listening, { beyond: feed.watch.tail, longestMs: quietMs });
    if (!heard && !signal.aborted && !isFinal(feed.session)) return true;
  }
  return false;
}

/** Whether something was printed behind an offset before the time was over, the signal came or the end. */
export async function waitForOutput(
  { feed, clock, signal }: Listening,
  { beyond, longestMs }: { readonly beyond: number; readonly longestMs: number },
): Promise<boolean> {
  const { watch } = feed;
  const silence = new AbortController();
  using _timer = clock.timer(longestMs, () => silence.abort());
  await watch.until(({ tail, session }) => tail > beyond || isFinal(session), {
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (watch.tail > beyond) return true;
  const isOver = silence.signal.aborted || signal.aborted || isFinal(feed.session);
  if (watch.isClosed && !isOver) throw hostGone(feed.session.session_id);
  return false;
}
