import type { Caller } from "#app/caller.ts";
import type { SessionFeed, SessionFeeds } from "#app/live/session-feeds.ts";
import { openVisibleFeed } from "#app/visible-session.ts";
import { isFinal } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Operations, StreamItem } from "#contract/operations.ts";
import { isParked, type Session } from "#contract/session.ts";
import { lines } from "#log/lines.ts";
import { readRange } from "#log/read-range.ts";

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

/**
 * Whole lines, each once; the id is the offset behind the line. Ends with the signal, when its host has gone, when the
 * session is removed, or when it is an agent that was closed for good: one that may go on is followed into its next life.
 */
async function* followEvents(
  { watch, events }: SessionFeed,
  { from, follow, signal }: Following,
  owned: DisposableStack,
): AsyncGenerator<StreamItem<AnyEvent>, void, void> {
  using _owned = owned;
  const waiting = signal === undefined ? {} : { signal };
  let next = from;
  while (signal?.aborted !== true) {
    const isOver = !follow || watch.isClosed || isClosedForGood(watch.session);
    const to = Math.max(watch.eventsTail, isOver ? events.tail() : 0);
    for await (const item of readEvents(events, next, to)) {
      next = item.id;
      const { id, data, text } = item;
      if (data !== undefined) yield { id, data, text };
    }
    if (isOver) return;
    await watch.until(
      ({ eventsTail, session }) => eventsTail > to || isClosedForGood(session),
      waiting,
    );
  }
}

function isClosedForGood(session: Session): boolean {
  return session.kind === "agent" && isFinal(session) && !isParked(session);
}

interface ReadEvent {
  /** Behind the line. */
  readonly id: number;
  /** Undefined for a range that holds no event: half a line that a crash left, a worker's answer to whoever asked it. */
  readonly data: AnyEvent | undefined;
  /** The line as it stands in the log. */
  readonly text?: string;
}

/** A line whose end is not there yet is left for the next time. */
async function* readEvents(
  events: SessionFeed["events"],
  from: number,
  to: number,
): AsyncGenerator<ReadEvent, void, void> {
  for await (const line of lines(readRange(events, from, { to, limit: CHUNK_BYTES }))) {
    if (line.kind === "line")
      yield { id: line.end_offset, data: eventOf(line.value), text: line.text };
    else if (line.reason !== "unfinished") yield { id: line.to, data: undefined };
  }
}

function eventOf(value: Readonly<Record<string, unknown>>): AnyEvent | undefined {
  if (value.type === "reply") return undefined;
  // Host and worker have written it by the same schema; what a newer one says more is passed on as it is.
  return value as AnyEvent;
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
