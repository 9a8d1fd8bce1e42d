import { isLive, isResumable } from "#contract/ended.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";

/**
 * What of all that happens to sessions is worth a word to somebody who looks elsewhere: that an agent begins to ask, and
 * that a session ends. What was so before the page opened is no news, and neither is what a cut tells a second time.
 */
export interface News {
  readonly kind: "asks" | "ended";
  readonly session: Session;
}

interface Attending {
  /** By the server's clock; undefined where nobody listened yet when it said so. */
  readonly openedAt: string | undefined;
  /** Agents that were known to ask, also through a cut. */
  readonly asking: ReadonlySet<string>;
  /** Sessions whose end was told, the oldest first. */
  readonly ended: ReadonlySet<string>;
}

export const NOTHING_HEARD: Attending = {
  openedAt: undefined,
  asking: new Set(),
  ended: new Set(),
};

/** So long a server may take to find out which of those that run ask already, and which of the parked. */
const SETTLE_RUNNING_MS = 3000;
const SETTLE_PARKED_MS = 30_000;
/** More than anybody has; beyond it the oldest may be told again. */
const REMEMBERED = 20_000;

type Heard = { readonly attending: Attending; readonly news: News | undefined };

/** `ageMs`: of the page, by its own clock; that of the server may go otherwise. */
export function hear(before: Attending, event: SessionsEvent, ageMs: number): Heard {
  if (event.type === "ready") {
    const openedAt = before.openedAt ?? event.at;
    return { attending: { ...before, openedAt }, news: undefined };
  }
  if (event.type === "session.removed") {
    const asking = without(before.asking, event.session_id);
    const ended = without(before.ended, event.session_id);
    return { attending: { ...before, asking, ended }, news: undefined };
  }
  if (event.type === "session.exited") return hearEnd(before, event.session);
  if (isLive(event.session)) return hearAnswer(reborn(before, event.session), event, ageMs);
  return hearAnswer(before, event, ageMs);
}

function hearAnswer(
  before: Attending,
  event: Extract<SessionsEvent, { readonly session: Session }>,
  ageMs: number,
): Heard {
  const { session, needs_answer } = event;
  const { session_id } = session;
  if (needs_answer === undefined) return { attending: before, news: undefined };
  if (!needs_answer) {
    const asking = without(before.asking, session_id);
    return { attending: { ...before, asking }, news: undefined };
  }
  const isKnown = before.asking.has(session_id) || wasBefore(before, session, ageMs);
  const attending = { ...before, asking: withOne(before.asking, session_id) };
  return { attending, news: isKnown ? undefined : { kind: "asks", session } };
}

function hearEnd(before: Attending, session: Session): Heard {
  const { session_id } = session;
  const attending = {
    ...before,
    asking: isResumable(session) ? before.asking : without(before.asking, session_id),
    ended: withOne(before.ended, session_id),
  };
  const isNews = !before.ended.has(session_id) && isWorthAWord(session);
  return { attending, news: isNews ? { kind: "ended", session } : undefined };
}

/** An agent that was started again may end again. */
function reborn(before: Attending, { session_id }: Session): Attending {
  if (!before.ended.has(session_id)) return before;
  return { ...before, ended: without(before.ended, session_id) };
}

/** What an agent opens comes and goes by the dozen, and a parked agent goes on when somebody speaks to it. */
function isWorthAWord(session: Session): boolean {
  return session.parent_session_id === null && !isResumable(session);
}

/** The server finds out one after the other, and says of each that it asks now. */
function wasBefore({ openedAt }: Attending, session: Session, ageMs: number): boolean {
  // The other way round it says nothing: what is told of a session may be older than the question.
  if (openedAt !== undefined && Date.parse(session.last_io_at) > Date.parse(openedAt)) return false;
  return ageMs < (isLive(session) ? SETTLE_RUNNING_MS : SETTLE_PARKED_MS);
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
