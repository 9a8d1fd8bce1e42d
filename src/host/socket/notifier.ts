import type { RemovalReason } from "#contract/session-state.ts";
import { defined } from "#contract/values/defined.ts";
import type { HandedConnection } from "#host/session/hand-over.ts";
import type { HostSession } from "#host/session/host-session.ts";
import type { Printed } from "#host/session/session-logs.ts";
import type { SessionsAccess } from "./bound-access.ts";
import { encodeJson, encodeOutput, encodeTail } from "./frames.ts";
import type { HostPush } from "./methods.ts";

export interface NotifierDeps {
  readonly sessions: SessionsAccess;
  /** Calls back when the bytes are on their way. */
  readonly send: (bytes: Buffer, sent: () => void) => void;
}

interface Watch {
  readonly number: number;
  readonly session: HostSession;
  /** What was printed may come with the news. */
  readonly inline: boolean;
  /** The tail that the other side knows. */
  told: number;
  readonly subscriptions: DisposableStack;
  isTailDirty: boolean;
  isSessionDirty: boolean;
}

/** More than this is read from the files; it is not what somebody waits for. */
const INLINE_BYTES = 4096;

/**
 * Tells one connection what moved. At most one message a watch is under way: what happens meanwhile is told by the
 * next one, with the newest numbers. A slow client so costs nothing but its own delay.
 */
export class Notifier implements Disposable {
  readonly #deps: NotifierDeps;
  readonly #watches = new Map<number, Watch>();
  /** Those with something to tell, so that the cost of a message does not grow with what is only watched. */
  readonly #dirty = new Set<number>();
  /** With why it was removed, where that is so and is known. */
  readonly #changed = new Map<string, RemovalReason | undefined>();
  #all: Disposable | undefined;
  #isSending = false;
  #serial = 0;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  watch(session: HostSession, inline: boolean): number {
    this.#serial += 1;
    return this.#add(session, this.#serial, inline).number;
  }

  unwatch(number: number): void {
    this.#watches.get(number)?.subscriptions.dispose();
    this.#watches.delete(number);
    this.#dirty.delete(number);
  }

  get watches(): number {
    return this.#watches.size;
  }

  handOver(): Pick<HandedConnection, "watch_serial" | "watches" | "watches_all"> {
    return {
      watch_serial: this.#serial,
      watches: [...this.#watches.values()].map(({ number, session, inline }) => ({
        number,
        session_id: session.id,
        inline,
      })),
      watches_all: this.#all !== undefined,
    };
  }

  /** Everybody is told the newest of all: what was under way when the program before us ended is not known. */
  adopt(handed: HandedConnection): void {
    for (const { number, session_id, inline } of handed.watches) {
      const session = this.#deps.sessions.find(session_id);
      if (session === undefined) continue;
      const watch = this.#add(session, number, inline);
      watch.isTailDirty = true;
      watch.isSessionDirty = true;
      this.#dirty.add(number);
    }
    this.#serial = handed.watch_serial;
    if (handed.watches_all) this.watchAll();
    this.#flush();
  }

  watchAll(): void {
    if (this.#all !== undefined) return;
    const { changes, removals } = this.#deps.sessions;
    const all = new DisposableStack();
    all.use(removals.on(({ session_id, reason }) => this.#changed.set(session_id, reason)));
    all.use(
      changes.on((sessionId) => {
        this.#changed.set(sessionId, this.#changed.get(sessionId));
        this.#flush();
      }),
    );
    this.#all = all;
  }

  [Symbol.dispose](): void {
    this.#all?.[Symbol.dispose]();
    for (const number of [...this.#watches.keys()]) this.unwatch(number);
  }

  #add(session: HostSession, number: number, inline: boolean): Watch {
    const watch: Watch = {
      number,
      session,
      inline,
      told: session.tail,
      subscriptions: new DisposableStack(),
      isTailDirty: false,
      isSessionDirty: false,
    };
    watch.subscriptions.use(
      session.tails.on((printed) => {
        if (printed !== undefined && this.#tellAtOnce(watch, printed)) return;
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
    return watch;
  }

  /** A few bytes behind a tail that is known are told with it: an echo need not be read from the files. */
  #tellAtOnce(watch: Watch, { channel, bytes }: Printed): boolean {
    const { session, number } = watch;
    const { tail } = session;
    const isNext = watch.told === tail - bytes.length && !this.#dirty.has(number);
    if (!watch.inline || this.#isSending || !isNext || bytes.length > INLINE_BYTES) return false;
    watch.told = tail;
    this.#post(
      encodeOutput({ watch: number, tail, events_tail: session.eventsTail, channel, bytes }),
    );
    return true;
  }

  #flush(): void {
    if (this.#isSending) return;
    const frames = [...this.#dirtyWatches(), ...this.#dirtyList()];
    if (frames.length === 0) return;
    this.#post(frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames));
  }

  #post(bytes: Buffer): void {
    this.#isSending = true;
    this.#deps.send(bytes, () => {
      this.#isSending = false;
      this.#flush();
    });
  }

  *#dirtyWatches(): Generator<Buffer> {
    for (const number of this.#dirty) {
      const watch = this.#watches.get(number);
      if (watch === undefined) continue;
      const { session } = watch;
      // The tail first: whoever hears of the exit has heard of all output before.
      watch.told = session.tail;
      if (watch.isTailDirty)
        yield encodeTail({ watch: number, tail: session.tail, events_tail: session.eventsTail });
      if (watch.isSessionDirty)
        yield encodePush({ push: "session", watch: number, session: session.view() });
      // Behind the last that is said of it. Told to everybody who watches all of them anyway.
      if (this.#all === undefined && this.#deps.sessions.find(session.id) === undefined)
        this.#changed.set(session.id, undefined);
      watch.isTailDirty = false;
      watch.isSessionDirty = false;
    }
    this.#dirty.clear();
  }

  *#dirtyList(): Generator<Buffer> {
    for (const [session_id, reason] of this.#changed) {
      yield encodePush({
        push: "list",
        session_id,
        session: this.#deps.sessions.find(session_id)?.view() ?? null,
        ...defined({ reason }),
      });
    }
    this.#changed.clear();
  }
}

function encodePush(push: HostPush): Buffer {
  return encodeJson(push);
}
