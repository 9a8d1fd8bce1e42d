import type { Clock } from "#base/clock.ts";

/** How often a silent client's lease is renewed. */
const RENEW_MS = 10_000;

/** As long as the peer is there it keeps what it holds, also when it has nothing to say. */
export function renewRegularly(clock: Clock, renew: () => Promise<void>): Disposable {
  const again = () => {
    // The next one tells whether it holds anything.
    void renew().catch(() => undefined);
    timer = clock.timer(RENEW_MS, again);
  };
  let timer = clock.timer(RENEW_MS, again);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
