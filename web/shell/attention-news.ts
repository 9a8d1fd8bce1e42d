import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";
import { hasEnded } from "#web/sessions/state-words.ts";

/**
 * The changes worth a notice to a user who looks elsewhere: an agent begins to need them, and a session ends. The list that
 * the page reads when the server is ready is where it begins; only a change of status after it is news.
 */
export interface News {
  readonly kind: "asks" | "ended";
  readonly session: Session;
}

interface Attending {
  /** False until the first list: what it holds is not news. */
  readonly hasBegun: boolean;
  /** Agents that need the user, as far as the page knows. */
  readonly asking: ReadonlySet<string>;
  /** Sessions whose end was reported, the oldest first. */
  readonly ended: ReadonlySet<string>;
}

export const NOTHING_HEARD: Attending = {
  hasBegun: false,
  asking: new Set(),
  ended: new Set(),
};

/** More than a server holds; beyond it the oldest may be reported again. */
const REMEMBERED = 20_000;

interface Heard {
  readonly attending: Attending;
  readonly news: readonly News[];
}

/** `listed`: every session, as the page has read them at a `ready`. After a cut, agents that began to ask meanwhile are news. */
export function hearList(before: Attending, listed: Iterable<Session>): Heard {
  const asking = [...listed].filter(isAsking);
  const attending = {
    ...before,
    hasBegun: true,
    asking: new Set(asking.map(({ session_id }) => session_id)),
  };
  const isNew = ({ session_id }: Session) => before.hasBegun && !before.asking.has(session_id);
  return {
    attending,
    news: asking.filter(isNew).map((session) => ({ kind: "asks", session })),
  };
}

export function hear(before: Attending, event: SessionsEvent): Heard {
  if (event.type === "ready") return { attending: before, news: [] };
  if (event.type === "session.removed") {
    const asking = without(before.asking, event.session_id);
    const ended = without(before.ended, event.session_id);
    return { attending: { ...before, asking, ended }, news: [] };
  }
  return hearStatus(before, event.session, event.type === "session.exited");
}

function hearStatus(before: Attending, session: Session, isExit: boolean): Heard {
  const { session_id } = session;
  const isOver = hasEnded(session);
  const change = isAsking(session) ? withOne : without;
  const attending = {
    ...before,
    asking: change(before.asking, session_id),
    ended: keepEnd(before.ended, session_id, { isOver, isExit }),
  };
  const news: News[] = [];
  if (isAsking(session) && !before.asking.has(session_id)) news.push({ kind: "asks", session });
  if (isExit && isOver && !before.ended.has(session_id) && session.parent_session_id === null)
    news.push({ kind: "ended", session });
  return { attending, news };
}

/** An agent that was started again may end again. A change of a session that ended before is not its end. */
function keepEnd(
  ended: ReadonlySet<string>,
  sessionId: string,
  { isOver, isExit }: Record<"isOver" | "isExit", boolean>,
): ReadonlySet<string> {
  if (!isOver) return without(ended, sessionId);
  return isExit ? withOne(ended, sessionId) : ended;
}

function isAsking({ status }: Session): boolean {
  return status === "needs_you";
}

function withOne(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (set.has(id)) return set;
  const larger = new Set(set);
  larger.add(id);
  const [oldest] = larger;
  if (larger.size > REMEMBERED && oldest !== undefined) larger.delete(oldest);
  return larger;
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (!set.has(id)) return set;
  const smaller = new Set(set);
  smaller.delete(id);
  return smaller;
}
