import { addAbortListener } from "node:events";
import type { Clock } from "#base/clock.ts";

/** Waits; an abort throws its reason at once. */
export async function pause(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using _timer = clock.timer(ms, resolve);
  using _abort = addAbortListener(signal, () => reject(signal.reason));
  await promise;
}

/** The promise, or the signal's reason if that comes first. */
export async function orAbort<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  if (signal.aborted) aborted.reject(signal.reason);
  using _abort = addAbortListener(signal, () => aborted.reject(signal.reason));
  // Also when it is too late already: a failure of the promise that nobody looks at would end the process.
  return await Promise.race([aborted.promise, promise]);
}
