import { addAbortListener } from "node:events";
import type { Clock } from "./clock.ts";

/** For a while, or until the signal comes. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = clock.timer(ms, resolve);
  using _abort = addAbortListener(signal, () => resolve());
  await promise;
}
