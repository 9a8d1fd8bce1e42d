import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Patience } from "#cli/control/patience.ts";
import { notice } from "#cli/exit.ts";
import { type PipedOptions, type PipedSession, pipe } from "#cli/piped.ts";
import type { RemotePlace } from "#cli/place/place.ts";
import { isPassing } from "#client/transport/refusal.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { chunksOf } from "./remote-output.ts";

const AGAIN_MS = 250;

/** A session of a server as a part of a pipeline of this machine. A server that is away is waited for. */
export async function runRemotePiped(
  place: RemotePlace,
  { session_id }: Session,
  { since, ...options }: PipedOptions,
): Promise<number> {
  const piped: PipedSession = {
    session_id,
    address: place.address,
    chunks: (signal) =>
      chunksOf(place.attach(session_id, { since, signal }), () =>
        notice("the server is away; it is tried again"),
      ),
    // An answer that was cut off may have been heard: then the program is interrupted twice, which is better than never.
    interrupt: (asking) =>
      askUntilBack((how) => place.call("session.interrupt", { session_id }, how), asking),
    input: (said, signal) => {
      // With an id it is typed once, however often it has to be said.
      const request = { session_id, ...said, input_id: randomUUID() };
      return askUntilBack((how) => place.call("session.input", request, how), { signal });
    },
    look: () => new Patience().ask(() => place.call("session.get", { session_id })),
  };
  return await pipe(piped, options);
}

/** As long as the attachment tries, which is until nobody wants it any more: what is typed into a pipe is never lost. */
async function askUntilBack<T>(
  question: (how: { readonly signal: AbortSignal }) => Promise<T>,
  { signal, onAway }: { readonly signal: AbortSignal; onAway?(): void },
): Promise<T> {
  for (;;) {
    try {
      return await question({ signal });
    } catch (error) {
      if (!(error instanceof Fault) || !isPassing(error)) throw error;
    }
    onAway?.();
    await setTimeout(AGAIN_MS, undefined, { signal });
  }
}
