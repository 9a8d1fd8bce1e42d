import { setImmediate, setTimeout } from "node:timers/promises";

const TIMEOUT_MS = 10_000;
/** The first looks follow each other at once, for what needs only a turn of the event loop. */
const EAGER_LOOKS = 20;
const POLL_MS = 10;

/** Looks until `check` answers something, of which a count of 0 is none; the error names what did not happen. */
export async function waitFor<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  { timeout = TIMEOUT_MS }: { readonly timeout?: number } = {},
): Promise<T> {
  const deadline = performance.now() + timeout;
  for (let looks = 0; ; looks += 1) {
    const found = await check();
    if (found !== undefined && found !== false && found !== 0) return found;
    if (performance.now() >= deadline) throw new Error(`not within ${timeout} ms: ${what}`);
    await (looks < EAGER_LOOKS ? setImmediate() : setTimeout(POLL_MS));
  }
}
