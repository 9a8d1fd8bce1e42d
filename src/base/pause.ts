import { addAbortListener } from "node:events";
import type { Clock } from "./clock.ts";

/** Waits for so long, or until the signal aborts; it never throws. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = clock.timer(ms, resolve);
  using _abort = addAbortListener(signal, () => resolve());
  await promise;
}
