import type { Caller } from "#app/caller.ts";
import type { SessionFeed, SessionFeeds } from "#app/live/session-feeds.ts";
import { openVisibleFeed } from "#app/visible-session.ts";
import type { SessionEvent } from "#contract/events.ts";
import { Fault } from "#contract/fault.ts";
import type { Operations, StreamItem } from "#contract/operations.ts";
import { readRange } from "#log/follow.ts";
import { lines } from "#log/lines.ts";

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export function createEventOperations(
  { feeds }: { readonly feeds: SessionFeeds },
  caller: Caller,
): Pick<Operations, "session.events"> {
  return {
    "session.events": async ({ session_id, since, follow = true }, { signal } = {}) => {
      using stack = new DisposableStack();
      const feed = stack.use(await openVisibleFeed(feeds, caller, session_id));
      const from = since === "tail" ? feed.watch.eventsTail : (since ?? 0);
      checkBoundary(feed, from);
      return followEvents(feed, { from, follow, signal }, stack.move());
    },
  };
}

interface Following {
  readonly from: number;
  readonly follow: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Whole lines, each once; the id is the offset behind the line. Ends with the signal, or when its host has gone. */
async function* followEvents(
  { watch, events }: SessionFeed,
  { from, follow, signal }: Following,
  owned: DisposableStack,
): AsyncGenerator<StreamItem<SessionEvent>, void, void> {
  using _owned = owned;
  const waiting = signal === undefined ? {} : { signal };
  let next = from;
  while (signal?.aborted !== true) {
    const isOver = !follow || watch.isClosed;
    const to = Math.max(watch.eventsTail, isOver ? events.tail() : 0);
    for await (const item of readEvents(events, next, to)) {
      next = item.id;
      if (item.data !== undefined) yield { id: item.id, data: item.data };
    }
    if (isOver) return;
    await watch.until(({ eventsTail }) => eventsTail > to, waiting);
  }
}

interface ReadEvent {
  /** Behind the line. */
  readonly id: number;
  /** Undefined for a range that holds no event: half a line that a crash left. */
  readonly data: SessionEvent | undefined;
}

/** A line whose end is not there yet is left for the next time. */
async function* readEvents(
  events: SessionFeed["events"],
  from: number,
  to: number,
): AsyncGenerator<ReadEvent, void, void> {
  for await (const line of lines(readRange(events, from, { to, limit: CHUNK_BYTES }))) {
    // The host has written it by the same schema.
    if (line.kind === "line") yield { id: line.end_offset, data: line.value as SessionEvent };
    else if (line.reason !== "unfinished") yield { id: line.to, data: undefined };
  }
}

/** An event's id is the offset behind its line; from anywhere else half a line would be read. */
function checkBoundary({ events }: SessionFeed, from: number): void {
  const tail = events.tail();
  const before = from === 0 || from > tail ? undefined : events.read(from - 1, { limit: 1, tail });
  if (from === 0 || (before?.kind === "bytes" && before.bytes[0] === NEWLINE)) return;
  throw new Fault(
    "offset_out_of_range",
    `${from} is not the id of an event; the events end at ${tail}`,
    { details: { tail, first: 0 } },
  );
}
