import { Fault } from "#contract/fault.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * How long to wait before the server is asked again: twice as long each time, and not before the moment that it named.
 * Undefined when no further attempt helps, because this browser is signed out.
 */
export function retryDelay(error: unknown, attempts: number): number | undefined {
  const own = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempts);
  if (!(error instanceof Fault)) return own;
  if (error.code === "unauthenticated") return undefined;
  return Math.max(own, retryAfterOf(error));
}

/** Milliseconds that the server asked to wait. */
export function retryAfterOf({ details }: Fault): number {
  const { retry_after_s } = details;
  return typeof retry_after_s === "number" && retry_after_s > 0 ? retry_after_s * 1000 : 0;
}
