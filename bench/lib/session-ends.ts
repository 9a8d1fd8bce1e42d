import type { Session } from "#contract/session.ts";

/** `exit`: the process has ended. `final`: and nobody holds its output any more. */
export type EndKind = "exit" | "final";

interface Waiting {
  readonly kind: EndKind;
  readonly resolve: (session: Session) => void;
}

/**
 * Hears of every session's end over one connection, so that thousands can be waited for without watching each. Keeps
 * those that have ended until the host removes them.
 */
export class SessionEnds {
  readonly #ended = new Map<string, Session>();
  readonly #waiting = new Map<string, Waiting>();

  hear(sessionId: string, session: Session | null): void {
    if (session === null) {
      this.#ended.delete(sessionId);
      return;
    }
    const waiting = this.#waiting.get(sessionId);
    if (waiting !== undefined && hasEnded(session, waiting.kind)) {
      this.#waiting.delete(sessionId);
      waiting.resolve(session);
    }
    if (hasEnded(session, "exit")) this.#ended.set(sessionId, session);
  }

  /** Resolves at once when it was heard before. One caller a session at a time. */
  wait(sessionId: string, kind: EndKind): Promise<Session> {
    const heard = this.#ended.get(sessionId);
    if (heard !== undefined && hasEnded(heard, kind)) return Promise.resolve(heard);
    const { promise, resolve } = Promise.withResolvers<Session>();
    this.#waiting.set(sessionId, { kind, resolve });
    return promise;
  }
}

function hasEnded({ state }: Session, kind: EndKind): boolean {
  if (state.kind === "lost") return true;
  return state.kind === "exited" && (kind === "exit" || state.final);
}
