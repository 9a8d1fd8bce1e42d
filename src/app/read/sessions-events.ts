import { type Caller, maySee } from "#app/caller.ts";
import type { SessionList, SessionListChange } from "#app/live/session-list.ts";
import type { Clock } from "#base/clock.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Operations, StreamItem } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHosts } from "#session/session-host.ts";

interface SessionsEventsDeps {
  readonly board: SessionList;
  readonly hosts: SessionHosts;
  readonly clock: Clock;
}

export function createSessionsEvents(
  { hosts, board, clock }: SessionsEventsDeps,
  caller: Caller,
): Pick<Operations, "sessions.watch"> {
  return {
    "sessions.watch": async (_input, { signal } = {}) => {
      await Promise.all(hosts.all().map((host) => host.connect()));
      const news = new News(caller);
      const now = () => new Date(clock.now()).toISOString();
      // Clients of an older version list sessions without their needs.
      const tellNeeds = () => {
        for (const session of board.sessions)
          if (session.needs.length > 0) news.add(describeNeeds(session, now()));
      };
      using stack = new DisposableStack();
      stack.use(
        board.changes.on((change) => {
          news.add(change);
          if (change.event.type === "ready") tellNeeds();
        }),
      );
      news.add({
        workspace_id: undefined,
        event: { type: "ready", at: now() },
      });
      tellNeeds();
      return followNews(news, stack.move(), signal);
    },
  };
}

function describeNeeds(session: Session, at: string): SessionListChange {
  const event = { type: "session.needs_answer", at, session, needs_answer: true } as const;
  return { workspace_id: session.workspace_id, event };
}

/** Ends when the reader goes. */
async function* followNews(
  news: News,
  subscription: Disposable,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamItem<SessionsEvent>, void, void> {
  using _subscription = subscription;
  const stop = () => news.wake();
  signal?.addEventListener("abort", stop);
  try {
    while (signal?.aborted !== true) {
      yield* news.take();
      await news.more();
    }
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * What a slow reader has not heard yet: one event a session, the newest, so it costs no more than there are sessions.
 */
class News {
  readonly #caller: Caller;
  readonly #events = new Map<string, SessionsEvent>();
  #waiting = Promise.withResolvers<void>();

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  add({ workspace_id, event }: SessionListChange): void {
    if (workspace_id !== undefined && !maySee(this.#caller, workspace_id)) return;
    const key = keyOf(event);
    const before = this.#events.get(key);
    this.#events.delete(key);
    this.#events.set(key, "session" in event ? joined(before, event) : event);
    this.wake();
  }

  *take(): Generator<StreamItem<SessionsEvent>> {
    this.#waiting = Promise.withResolvers<void>();
    const events = [...this.#events.values()];
    this.#events.clear();
    for (const data of events) yield { data };
  }

  async more(): Promise<void> {
    if (this.#events.size === 0) await this.#waiting.promise;
  }

  wake(): void {
    this.#waiting.resolve();
  }
}

const WEIGHTS = [
  "session.changed",
  "session.title",
  "session.needs_answer",
  "session.state",
  "session.exited",
  "session.opened",
];

type Change = Extract<SessionsEvent, { readonly session: unknown }>;

/** What an event says that was not told stays said by the one that takes its place; the session in it is the newest. */
function joined(before: SessionsEvent | undefined, event: Change): Change {
  if (before === undefined || !("session" in before)) return event;
  const isWeightier = WEIGHTS.indexOf(before.type) > WEIGHTS.indexOf(event.type);
  const { needs_answer = before.needs_answer } = event;
  const changed =
    before.changed === undefined || event.changed === undefined
      ? undefined
      : [...new Set([...before.changed, ...event.changed])];
  return {
    ...event,
    type: isWeightier ? before.type : event.type,
    ...defined({ needs_answer, changed }),
  };
}

function keyOf(event: SessionsEvent): string {
  if ("session" in event) return event.session.session_id;
  return "session_id" in event ? event.session_id : "ready";
}
