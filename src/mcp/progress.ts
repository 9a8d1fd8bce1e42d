import type { ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "#base/clock.ts";
import type { ToolName } from "#contract/tools/tools.ts";

/** Often enough for clients that give up on a call that says nothing. */
const PROGRESS_MS = 3000;

/** Tells a client that asked for it, every few seconds, that its call still waits. */
export function openProgress(
  { clock }: { readonly clock: Clock },
  name: ToolName,
  { mcpReq }: ServerContext,
): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => undefined };
  const began = clock.monotonic();
  const tell = () => {
    timer = clock.timer(PROGRESS_MS, tell);
    const progress = Math.round((clock.monotonic() - began) / 1000);
    const params = { progressToken, progress, message: `${name} still waits after ${progress} s` };
    // Whoever has gone needs no progress; its call is cancelled by its transport.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  let timer = clock.timer(PROGRESS_MS, tell);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
