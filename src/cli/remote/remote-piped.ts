import { randomUUID } from "node:crypto";
import { Patience } from "#cli/control/patience.ts";
import { notice } from "#cli/control/target-options.ts";
import { type PipedOptions, type PipedSession, pipe } from "#cli/piped.ts";
import type { RemotePlace } from "#cli/place/place.ts";
import type { Session } from "#contract/session.ts";
import { chunksOf } from "./remote-output.ts";

/** A session of a server as a part of a pipeline of this machine. A server that is away is waited for. */
export async function runRemotePiped(
  place: RemotePlace,
  { session_id }: Session,
  { since, ...options }: PipedOptions,
): Promise<number> {
  const piped: PipedSession = {
    session_id,
    chunks: (signal) =>
      chunksOf(place.attach(session_id, { since, signal }), () =>
        notice("the server is away; it is tried again"),
      ),
    interrupt: () => place.call("session.interrupt", { session_id }),
    input: (said) => {
      // With an id it is typed once, however often it has to be said.
      const request = { session_id, ...said, input_id: randomUUID() };
      return new Patience().ask(() => place.call("session.input", request));
    },
    look: () => new Patience().ask(() => place.call("session.get", { session_id })),
  };
  return await pipe(piped, options);
}
