import type { PrintedOutput } from "#app/last-lines.ts";
import type { Client } from "#client/client.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What a session has printed, without the bytes that are no longer kept. */
export async function* readOutput(
  client: Pick<Client, "output">,
  { session_id }: Pick<Session, "session_id">,
  { from, to }: Range,
): ReturnType<PrintedOutput["read"]> {
  for (let since = from; since < to; ) {
    const limit = Math.min(to - since, limits.output_range_bytes);
    const { offset, bytes, next } = await client.output({ session_id, since, limit });
    if (next <= since) return;
    yield { offset, bytes };
    since = next;
  }
}
