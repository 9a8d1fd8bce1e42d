import { createFrameWriter, createRawWriter } from "#cli/output-writer.ts";
import { openRemotePlace } from "#cli/place/place.ts";
import { choosePlace } from "#cli/place/records.ts";
import { findTarget } from "#cli/place/target.ts";
import { chunksOf } from "#cli/remote/remote-output.ts";
import { endOf } from "#log/log-source.ts";

export interface RemoteLogs {
  readonly remote: string;
  readonly word: string | undefined;
  readonly since: number | "tail" | undefined;
  readonly isFollowing: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** What a session of a server has printed: over a socket, which alone tells stdout from stderr. */
export async function printRemoteLogs(logs: RemoteLogs): Promise<void> {
  const { remote, isFollowing, json, signal } = logs;
  await using place = await openRemotePlace({ ...choosePlace({ remote }), remote });
  const session = await findTarget(place, logs.word);
  const since = logs.since === "tail" ? session.tail : logs.since;
  const writer = json ? createFrameWriter() : createRawWriter({ isHistory: process.stdout.isTTY });
  const until = isFollowing ? Number.POSITIVE_INFINITY : session.tail;
  if ((since ?? session.first_offset) >= until) return;
  await using attachment = place.attach(session.session_id, { since, signal });
  for await (const chunk of chunksOf(attachment)) {
    await writer.write(chunk);
    if (endOf(chunk) >= until) return;
  }
  if (signal.aborted) return;
  await writer.end(await place.call("session.get", { session_id: session.session_id }));
}
