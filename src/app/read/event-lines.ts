import { defined } from "#contract/values/defined.ts";
import { lines } from "#log/lines.ts";
import { readRange } from "#log/read-range.ts";
import type { LogReader, SessionHandle } from "#session/session-host.ts";

const CHUNK_BYTES = 64 * 1024;

export interface EventLine {
  /** Behind the line: the id of its event. */
  readonly end: number;
  /** Undefined for a range that holds no object: half a line that a crash left. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  /** As it stands in the log. */
  readonly text?: string;
}

/** The whole lines in `[from, to)`; one whose end is not there yet is left for the next time. */
export async function* readEventLines(
  events: LogReader,
  from: number,
  to: number,
): AsyncGenerator<EventLine, void, void> {
  for await (const line of lines(readRange(events, from, { to, limit: CHUNK_BYTES }))) {
    if (line.kind === "line") yield { end: line.end_offset, value: line.value, text: line.text };
    else if (line.reason !== "unfinished") yield { end: line.to, value: undefined };
  }
}

/** What is there and what comes, until the signal, or until its host has gone. */
export async function* followEventLines(
  handle: SessionHandle,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventLine, void, void> {
  const waiting = defined({ signal });
  const { events } = handle;
  let next = from;
  while (signal?.aborted !== true) {
    const isOver = handle.state === "closed";
    const to = Math.max(handle.eventsTail, isOver ? events.tail() : 0);
    for await (const line of readEventLines(events, next, to)) {
      next = line.end;
      yield line;
    }
    if (isOver) return;
    await handle.until(({ eventsTail }) => eventsTail > to, waiting);
  }
}

/** Whether it is an answer of the worker to one who asked, which is no event for anybody else. */
export function isReply(value: EventLine["value"]): boolean {
  return value?.type === "reply";
}
