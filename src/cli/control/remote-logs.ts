import { findStart, type OutputStart, type PrintedOutput } from "#app/last-lines.ts";
import { createFrameWriter, openRawWriter } from "#cli/output-writer.ts";
import { openRemotePlace, type Place } from "#cli/place/place.ts";
import { choosePlace } from "#cli/place/records.ts";
import { findTarget } from "#cli/place/target.ts";
import { chunksOf } from "#cli/terminal/printed-chunks.ts";
import type { Session } from "#contract/session.ts";
import { endOf } from "#log/log-source.ts";

export interface RemoteLogs {
  readonly remote: string;
  readonly word: string | undefined;
  readonly start: OutputStart | undefined;
  readonly isFollowing: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** What a session of a server has printed: over a socket, which alone tells stdout from stderr. */
export async function printRemoteLogs(logs: RemoteLogs): Promise<void> {
  const { remote, isFollowing, json, signal } = logs;
  await using place = await openRemotePlace({ ...choosePlace({ remote }), remote });
  const session = await findTarget(place, logs.word, { isFollowed: isFollowing });
  const output: PrintedOutput = {
    ...{ first: session.first_offset, tail: session.tail },
    read: (from, to) => readBytes(place, session, { from, to }),
  };
  const since = logs.start === undefined ? undefined : await findStart(logs.start, output);
  using writer = json ? createFrameWriter() : openRawWriter({ isHistory: process.stdout.isTTY });
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

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What is no longer kept is passed over. */
async function* readBytes(place: Place, { session_id }: Session, { from, to }: Range) {
  for (let next = from; next < to; ) {
    const {
      offset,
      bytes,
      next: end,
    } = await place.output({
      ...{ session_id, since: next, limit: to - next },
    });
    if (end <= next) return;
    yield { offset, bytes };
    next = end;
  }
}
