import { createFrameWriter, createRawWriter } from "#cli/output-writer.ts";
import { openPlace } from "#cli/place/place.ts";
import { choosePlace } from "#cli/place/records.ts";
import { findToken, parseRemote } from "#cli/place/remote.ts";
import { findTarget } from "#cli/place/target.ts";
import type { Attachment } from "#client/attach/attachment.ts";
import { createClient } from "#client/client.ts";
import { channels } from "#contract/channels.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";

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
  const found = choosePlace({ remote });
  await using place = await openPlace(found);
  const session = await findTarget(place, logs.word);
  const since = logs.since === "tail" ? session.tail : logs.since;
  const writer = json ? createFrameWriter() : createRawWriter({ isHistory: process.stdout.isTTY });
  const client = createClient({
    url: remote,
    token: found.token ?? findToken(parseRemote(remote)),
  });
  const until = isFollowing ? Number.POSITIVE_INFINITY : session.tail;
  if ((since ?? session.first_offset) >= until) return;
  await using attachment = client.attach(session.session_id, { since, signal });
  for await (const chunk of chunksOf(attachment)) {
    await writer.write(chunk);
    if (endOf(chunk) >= until) return;
  }
  if (signal.aborted) return;
  await writer.end(await place.call("session.get", { session_id: session.session_id }));
}

/** Up to the exit. Cuts in between mend by themselves. */
async function* chunksOf(attachment: Attachment): AsyncGenerator<LogChunk, void, void> {
  for await (const event of attachment) {
    if (event.type === "failed") throw event.fault;
    if (event.type === "exit") return;
    if (event.type === "gap") yield { kind: "gap", from: event.from, to: event.to };
    if (event.type !== "output") continue;
    const { offset, bytes, channel } = event;
    yield { kind: "bytes", at_ms: 0, offset, bytes, channel: channels[channel] };
  }
}
