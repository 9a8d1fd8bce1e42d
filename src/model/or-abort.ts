import { addAbortListener } from "node:events";

/** The promise, or the signal's reason if that comes first. */
export async function orAbort<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  if (signal.aborted) aborted.reject(signal.reason);
  using _abort = addAbortListener(signal, () => aborted.reject(signal.reason));
  // Also when it is too late already: a failure of the promise that nobody looks at would end the process.
  return await Promise.race([aborted.promise, promise]);
}
