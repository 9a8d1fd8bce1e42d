import type { HostSession } from "#host/session/host-session.ts";
import type { Sessions } from "#host/sessions.ts";
import { encodeJson, encodeTail } from "./frames.ts";
import type { HostPush } from "./methods.ts";

export interface NotifierDeps {
  readonly sessions: Sessions;
  /** Calls back when the bytes are on their way. */
  readonly send: (bytes: Buffer, sent: () => void) => void;
}

interface Watch {
  readonly session: HostSession;
  readonly subscriptions: DisposableStack;
  isTailDirty: boolean;
  isSessionDirty: boolean;
}

/**
 * Tells one connection what moved. At most one message a watch is under way: what happens meanwhile is told by the
 * next one, with the newest numbers. A slow client so costs nothing but its own delay.
 */
export class Notifier implements Disposable {
  readonly #deps: NotifierDeps;
  readonly #watches = new Map<number, Watch>();
  /** Those with something to tell, so that the cost of a message does not grow with what is only watched. */
  readonly #dirty = new Set<number>();
  readonly #changed = new Set<string>();
  #all: Disposable | undefined;
  #isSending = false;
  #serial = 0;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  watch(session: HostSession): number {
    this.#serial += 1;
    const number = this.#serial;
    const watch: Watch = {
      session,
      subscriptions: new DisposableStack(),
      isTailDirty: false,
      isSessionDirty: false,
    };
    watch.subscriptions.use(
      session.tails.on(() => {
        watch.isTailDirty = true;
        this.#dirty.add(number);
        this.#flush();
      }),
    );
    watch.subscriptions.use(
      session.changes.on(() => {
        watch.isSessionDirty = true;
        this.#dirty.add(number);
        this.#flush();
      }),
    );
    this.#watches.set(number, watch);
    return number;
  }

  unwatch(number: number): void {
    this.#watches.get(number)?.subscriptions.dispose();
    this.#watches.delete(number);
    this.#dirty.delete(number);
  }

  get watches(): number {
    return this.#watches.size;
  }

  watchAll(): void {
    this.#all ??= this.#deps.sessions.changes.on((sessionId) => {
      this.#changed.add(sessionId);
      this.#flush();
    });
  }

  [Symbol.dispose](): void {
    this.#all?.[Symbol.dispose]();
    for (const number of [...this.#watches.keys()]) this.unwatch(number);
  }

  #flush(): void {
    if (this.#isSending) return;
    const frames = [...this.#dirtyWatches(), ...this.#dirtyList()];
    if (frames.length === 0) return;
    this.#isSending = true;
    this.#deps.send(
      frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames),
      () => {
        this.#isSending = false;
        this.#flush();
      },
    );
  }

  *#dirtyWatches(): Generator<Buffer> {
    for (const number of this.#dirty) {
      const watch = this.#watches.get(number);
      if (watch === undefined) continue;
      const { session } = watch;
      // The tail first: whoever hears of the exit has heard of all output before.
      if (watch.isTailDirty)
        yield encodeTail({ watch: number, tail: session.tail, events_tail: session.eventsTail });
      if (watch.isSessionDirty)
        yield encodePush({ push: "session", watch: number, session: session.view() });
      watch.isTailDirty = false;
      watch.isSessionDirty = false;
    }
    this.#dirty.clear();
  }

  *#dirtyList(): Generator<Buffer> {
    for (const session_id of this.#changed) {
      yield encodePush({
        push: "list",
        session_id,
        session: this.#deps.sessions.find(session_id)?.view() ?? null,
      });
    }
    this.#changed.clear();
  }
}

function encodePush(push: HostPush): Buffer {
  return encodeJson(push);
}
