import type { Caller } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import { isFinal, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Operations, StreamItem } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { isReply, readEventLines } from "./event-lines.ts";

const NEWLINE = 0x0a;

export function createEventOperations(
  { hosts }: { readonly hosts: SessionHosts },
  caller: Caller,
): Pick<Operations, "session.events"> {
  return {
    "session.events": async ({ session_id, since, follow = true }, { signal } = {}) => {
      using stack = new DisposableStack();
      const handle = stack.use(await openVisible(hosts, caller, session_id));
      const from = since === "tail" ? handle.eventsTail : (since ?? 0);
      checkBoundary(handle, from);
      return followEvents(handle, { from, follow, signal }, stack.move());
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
  handle: SessionHandle,
  { from, follow, signal }: Following,
  owned: DisposableStack,
): AsyncGenerator<StreamItem<AnyEvent>, void, void> {
  using _owned = owned;
  const waiting = defined({ signal });
  const { events } = handle;
  let next = from;
  while (signal?.aborted !== true) {
    const isOver = !follow || handle.state === "closed" || isClosedForGood(handle.session);
    const to = Math.max(handle.eventsTail, isOver ? events.tail() : 0);
    for await (const { end, value, text } of readEventLines(events, next, to)) {
      next = end;
      if (value === undefined || isReply(value)) continue;
      // Host and worker have written it by the same schema; what a newer one says more is passed on as it is.
      yield { id: end, data: value as AnyEvent, text };
    }
    if (isOver) return;
    await handle.until(
      ({ eventsTail, session }) => eventsTail > to || isClosedForGood(session),
      waiting,
    );
  }
}

function isClosedForGood(session: Session): boolean {
  return session.kind === "agent" && isFinal(session) && !isResumable(session);
}

/** An event's id is the offset behind its line; from anywhere else half a line would be read. */
function checkBoundary({ events }: SessionHandle, from: number): void {
  const tail = events.tail();
  const before = from === 0 || from > tail ? undefined : events.read(from - 1, { limit: 1, tail });
  if (from === 0 || (before?.kind === "bytes" && before.bytes[0] === NEWLINE)) return;
  throw new Fault(
    "offset_out_of_range",
    `${from} is not the id of an event; the events end at ${tail}`,
    { details: { tail, first: 0 } },
  );
}
