import type { ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "#base/clock.ts";

/** Often enough for clients that give up on a call that says nothing. */
const PROGRESS_MS = 3000;
/** Of a second. */
const LEAST_STEP = 0.001;

export interface Progress extends Disposable {
  /** What is being done now. */
  tell(message: string): void;
}

/** Tells a client that asked for it, every few seconds, that its call still waits. */
export function openProgress(
  { clock }: { readonly clock: Clock },
  name: string,
  { mcpReq }: ServerContext,
): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined)
    return { tell: () => undefined, [Symbol.dispose]: () => undefined };
  const began = clock.monotonic();
  const seconds = () => (clock.monotonic() - began) / 1000;
  let last = 0;
  const tell = (message: string, at: number) => {
    // The protocol wants it to grow with each notice.
    last = at > last ? at : last + LEAST_STEP;
    const params = { progressToken, progress: last, message };
    // Whoever has gone needs no progress; its call is cancelled by its transport.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  const tick = () => {
    timer = clock.timer(PROGRESS_MS, tick);
    const whole = Math.round(seconds());
    tell(`${name} still waits after ${whole} s`, whole);
  };
  let timer = clock.timer(PROGRESS_MS, tick);
  return {
    tell: (message) => tell(message, seconds()),
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
