import { followEvents } from "#cli/control/follow-events.ts";
import type { Target } from "#cli/control/target-options.ts";
import { asFault, type Fault } from "#contract/fault.ts";
import type { LineWriter } from "./line-writer.ts";

export interface Forwarding {
  readonly since: number;
  /** Aborted when nobody wants events any more. */
  readonly signal: AbortSignal;
}

/**
 * Every event from `since` on, until there can be no more or the stream breaks for good: that is said as well, and it
 * is the fault that this answers. Never rejects: requests are still answered then.
 */
export async function forwardEvents(
  { client, session }: Pick<Target, "client" | "session">,
  writer: LineWriter,
  { since, signal }: Forwarding,
): Promise<Fault | undefined> {
  let next = since;
  let fault: Fault | undefined;
  try {
    for await (const { id, text } of followEvents(client, session, { since, signal })) {
      next = id;
      await writer.writeText(`{"type":"event","event":${text},"next":${next}}`);
    }
  } catch (error) {
    fault = asFault(error);
  }
  if (signal.aborted) return undefined;
  const why = fault === undefined ? {} : { code: fault.code, message: fault.message };
  await writer.write({ type: "events_ended", next, ...why });
  return fault;
}
