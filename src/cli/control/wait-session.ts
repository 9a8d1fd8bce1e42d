import { Patience } from "#cli/target/patience.ts";
import { isOver } from "./follow-events.ts";
import type { Outcome, Waiting } from "./wait-agent.ts";
import type { Wanted } from "./wait-plan.ts";

/** One question waits no longer: what stands between two machines may cut off what is silent for minutes. */
const SLICE_MS = 60_000;

/** By the operation, again and again: what it has looked through it is not asked again. */
export async function waitForSession(waiting: Waiting, wanted: Wanted): Promise<Outcome> {
  const { client, session, leftMs } = waiting;
  const { session_id, kind } = session;
  const patience = new Patience();
  // Silence has to fit into a slice.
  const slice = SLICE_MS + (wanted.for === "idle" ? wanted.idle_ms : 0);
  let since = waiting.since === "tail" ? session.tail : waiting.since;
  for (;;) {
    const timeout_ms = Math.round(Math.min(slice, leftMs()));
    const asked = { session_id, ...wanted, timeout_ms, ...(isLooking(wanted) ? { since } : {}) };
    const result = await patience.ask(() => client.call("session.wait", asked));
    const ended = isOver({ kind, state: result.state });
    if (result.matched || ended || leftMs() === 0) return { ...result, for: wanted.for, ended };
    if (isLooking(wanted)) since = result.end;
  }
}

function isLooking({ for: kind }: Wanted): boolean {
  return kind === "text" || kind === "regex";
}
