import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import type { Logger } from "#base/logger.ts";
import { isLive, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { QuestionCursor } from "./open-questions.ts";
import type { BoardChange, SessionBoard } from "./session-board.ts";

export interface AskingAgentsDeps {
  readonly board: SessionBoard;
  readonly hosts: SessionHosts;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How far so many agents were read is remembered; the events of others are read from the start again. */
const CURSORS = 2000;

/** What is under way while somebody listens, until the next host. */
interface Round {
  readonly stop: AbortController;
  /** Those that are read or followed now, with the newest that the board has said of them. */
  readonly agents: Map<string, { newest: Session }>;
}

interface Reading {
  /** The board knows of a later life. */
  readonly isBehind: (session: Session) => boolean;
  readonly leave: () => void;
  readonly signal: AbortSignal;
}

/**
 * Which agents wait for somebody's answer. Their events are read once, one log at a time, and followed while they run
 * and somebody listens; one that is parked is read to its end and heard of again when the board says that it runs.
 */
export class AskingAgents {
  readonly #deps: AskingAgentsDeps;
  readonly #cursors = new Map<string, QuestionCursor>();
  readonly #asking = new Map<string, Session>();
  readonly #changes: Emitter<BoardChange>;
  #board: Disposable | undefined;
  #round: Round | undefined;
  /** The reading of whole logs. */
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(deps: AskingAgentsDeps) {
    this.#deps = deps;
    this.#changes = new Emitter((error) => deps.log.error("a listener failed", { error }));
  }

  /** Tells of those that ask now, and of every change. */
  follow(listener: (change: BoardChange) => void): Disposable {
    const subscription = this.#changes.on(listener);
    for (const session of this.#asking.values()) listener(this.#describe(session, true));
    if (this.#board === undefined) {
      this.#board = this.#deps.board.changes.on((change) => this.#onBoard(change));
      this.#begin();
    }
    return {
      [Symbol.dispose]: () => {
        subscription[Symbol.dispose]();
        if (this.#changes.size === 0) this.#end();
      },
    };
  }

  /** As far as it is known; nothing is while nobody listens. */
  has(sessionId: string): boolean {
    return this.#asking.has(sessionId);
  }

  #onBoard({ event }: BoardChange): void {
    if (event.type === "ready") this.#begin();
    else if (event.type === "session.removed") this.#forget(event.session_id);
    else if ("session" in event) this.#look(event.session);
  }

  /** Also when another host answers: everybody lists anew then, and is told anew. */
  #begin(): void {
    this.#round?.stop.abort();
    this.#asking.clear();
    const round: Round = { stop: new AbortController(), agents: new Map() };
    this.#round = round;
    void this.#list(round).catch(this.#failed);
  }

  #end(): void {
    this.#board?.[Symbol.dispose]();
    this.#board = undefined;
    this.#round?.stop.abort();
    this.#round = undefined;
    this.#asking.clear();
  }

  async #list({ stop }: Round): Promise<void> {
    const [host] = this.#deps.hosts.all();
    for (let cursor: string | undefined; !stop.signal.aborted; ) {
      const page: { readonly sessions: readonly Session[]; readonly cursor: string | null } =
        await host.call("session.list", { kind: "agent", limit: limits.list_most, cursor });
      if (stop.signal.aborted) return;
      for (const session of page.sessions) this.#look(session);
      if (page.cursor === null) return;
      cursor = page.cursor;
    }
  }

  #look(session: Session): void {
    const round = this.#round;
    const { session_id, kind } = session;
    if (round === undefined || kind !== "agent") return;
    const followed = round.agents.get(session_id);
    if (followed !== undefined) followed.newest = session;
    else if (isLive(session) || isResumable(session)) void this.#follow(session, round);
    else this.#tell(session, false);
  }

  async #follow(session: Session, { agents, stop }: Round): Promise<void> {
    const { session_id } = session;
    const entry = { newest: session };
    agents.set(session_id, entry);
    // In the same step as it is decided: what the board says from then on begins anew.
    const leave = () => {
      if (agents.get(session_id) === entry) agents.delete(session_id);
    };
    const isBehind = ({ life = 1 }: Session) => (entry.newest.life ?? 1) > life;
    try {
      using handle = await this.#deps.hosts.of(session_id).open(session_id);
      await this.#read(handle, { isBehind, leave, signal: stop.signal });
    } catch (error) {
      this.#failed(error);
    } finally {
      leave();
    }
  }

  /** Until it does not run any more, and all that it said is read. */
  async #read(handle: SessionHandle, { isBehind, leave, signal }: Reading): Promise<void> {
    const { events } = handle;
    const cursor = this.#cursorOf(handle.session.session_id);
    await this.#catchUp(() =>
      cursor.read(events, handle.eventsTail, () => signal.throwIfAborted()),
    );
    const isOver = () => signal.aborted || handle.state === "closed";
    while (!isOver()) {
      // The state before the tail: an end that we know of has told its tail before.
      const { session } = handle;
      const to = handle.eventsTail;
      await cursor.read(events, to);
      if (isOver()) return;
      this.#tell(session, cursor.isAsking && (isLive(session) || isResumable(session)));
      if (!isLive(session) && !isLive(handle.session) && !isBehind(session)) {
        leave();
        return;
      }
      await handle.until(({ eventsTail, session: now }) => eventsTail > to || now !== session, {
        signal,
      });
    }
  }

  /** One whole log at a time. */
  async #catchUp(read: () => Promise<void>): Promise<void> {
    const turn = this.#catchingUp.then(read);
    this.#catchingUp = turn.catch(this.#failed);
    await turn;
  }

  #tell(session: Session, isAsking: boolean): void {
    const { session_id } = session;
    const wasAsking = this.#asking.has(session_id);
    if (isAsking) this.#asking.set(session_id, session);
    else this.#asking.delete(session_id);
    if (isAsking !== wasAsking) this.#changes.emit(this.#describe(session, isAsking));
  }

  #describe(session: Session, needs_answer: boolean): BoardChange {
    const type = needs_answer ? "session.needs_answer" : "session.changed";
    const at = new Date(this.#deps.clock.now()).toISOString();
    return { workspace_id: session.workspace_id, event: { type, at, session, needs_answer } };
  }

  #cursorOf(sessionId: string): QuestionCursor {
    const cursor = this.#cursors.get(sessionId) ?? new QuestionCursor();
    this.#cursors.delete(sessionId);
    this.#cursors.set(sessionId, cursor);
    const [oldest] = this.#cursors.keys();
    if (this.#cursors.size > CURSORS && oldest !== undefined) this.#cursors.delete(oldest);
    return cursor;
  }

  /** The session or its host has gone, or nobody listens any more: the board tells of what comes next. */
  readonly #failed = (error: unknown): void => {
    if (error instanceof Fault || (error instanceof Error && error.name === "AbortError")) return;
    this.#deps.log.error("an agent's questions could not be read", { error });
  };

  #forget(sessionId: string): void {
    this.#asking.delete(sessionId);
    this.#cursors.delete(sessionId);
  }
}
