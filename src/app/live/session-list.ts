import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";
import type { RemovalReason } from "#contract/session-state.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHost } from "#session/session-host.ts";

/** What happened to a session, with the workspace that it belongs to. */
export interface SessionListChange {
  readonly workspace_id: string | undefined;
  readonly event: SessionsEvent;
}

/** Hears of every session, whether or not a caller looks at a list. */
interface BoardListener {
  /** One that is there, when the host is found and at each change. */
  seen(session: Session): void;
  removed(session: Session, reason: RemovalReason | undefined): void;
}

type ChangeName = Extract<SessionsEvent, { readonly session: Session }>["type"];

/**
 * Every session of the host, as far as lists need them: what happened to one follows from what was known of it. When
 * another host answers, everybody begins anew.
 */
export class SessionList {
  readonly changes: Emitter<SessionListChange>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #listener: BoardListener | undefined;
  #known = new Map<string, Session>();

  constructor(clock: Clock, log: Logger, listener?: BoardListener) {
    this.#clock = clock;
    this.#log = log;
    this.#listener = listener;
    this.changes = new Emitter((error) => log.error("a listener failed", { error }));
  }

  /** As the host last told of them. */
  get sessions(): IterableIterator<Session> {
    return this.#known.values();
  }

  /** Follows the sessions of this host from its next connection on. `isNeeded`: a lost one is opened again. */
  follow(host: SessionHost, isNeeded = () => false): Disposable {
    let primed = Promise.resolve();
    return host.watchAll({
      isNeeded,
      connected: () => {
        primed = this.#list(host);
      },
      changed: (sessionId, session, reason) => {
        void primed.then(() => {
          if (session === null) this.#remove(sessionId, reason);
          else this.#change(sessionId, session);
        });
      },
    });
  }

  async #list(host: SessionHost): Promise<void> {
    const known = new Map<string, Session>();
    this.#known = known;
    try {
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: { readonly sessions: readonly Session[]; readonly cursor: string | null } =
          await host.call("session.list", defined({ limit: limits.list_most, cursor }));
        for (const session of page.sessions) {
          known.set(session.session_id, session);
          // It may have ended while this gateway was not there.
          this.#listener?.seen(session);
        }
        cursor = page.cursor;
      }
    } catch (error) {
      // The host has gone again; whoever asks next brings another.
      this.#log.warn("sessions could not be listed", { error });
    }
    // Another connection was opened meanwhile, and its list is the one that counts.
    if (this.#known !== known) return;
    this.changes.emit({ workspace_id: undefined, event: { type: "ready", at: this.#now() } });
  }

  #remove(sessionId: string, reason: RemovalReason | undefined): void {
    const before = this.#known.get(sessionId);
    this.#known.delete(sessionId);
    if (before === undefined) return;
    this.#listener?.removed(before, reason);
    const event = {
      type: "session.removed",
      at: this.#now(),
      session_id: before.session_id,
    } as const;
    this.changes.emit({ workspace_id: before.workspace_id, event });
  }

  #change(sessionId: string, session: Session): void {
    const before = this.#known.get(sessionId);
    this.#known.set(sessionId, session);
    this.#listener?.seen(session);
    const event = { ...describeChange(before, session), at: this.#now(), session };
    this.changes.emit({ workspace_id: session.workspace_id, event });
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

type Change = Pick<
  Extract<SessionsEvent, { readonly session: Session }>,
  "type" | "changed" | "needs_answer"
>;

function describeChange(before: Session | undefined, session: Session): Change {
  const asked = before !== undefined && before.needs.length > 0;
  const asks = session.needs.length > 0;
  return {
    type: nameChange(before, session),
    ...(before === undefined ? {} : { changed: listChanged(before, session) }),
    ...(asked === asks ? {} : { needs_answer: asks }),
  };
}

function nameChange(before: Session | undefined, session: Session): ChangeName {
  const { state, title, needs } = session;
  if (before === undefined) return "session.opened";
  if (before.state.kind !== state.kind)
    return state.kind === "exited" || state.kind === "lost" ? "session.exited" : "session.state";
  if (before.title !== title) return "session.title";
  if (before.needs.length === 0 && needs.length > 0) return "session.needs_answer";
  return "session.changed";
}

function listChanged(before: Session, session: Session): string[] {
  const names = Object.keys({ ...before, ...session }) as (keyof Session)[];
  return names.filter((name) => !isSame(before[name], session[name]));
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const isEither = typeof a === "object" && typeof b === "object";
  return isEither && JSON.stringify(a) === JSON.stringify(b);
}
