import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostClient } from "#host/socket/client.ts";
import { Watch } from "#host/socket/watch.ts";
import { openLogFiles } from "#log/log-files.ts";
import { ResizeTrack } from "./resize-track.ts";
import type { LogReader, SessionHandle } from "./session-host.ts";

/** Readers of ranges come back at once: an unused session stays open for so long. */
export interface Linger {
  readonly clock: Clock;
  readonly ms: number;
}

export interface SharedSessionsOptions {
  readonly connect: () => Promise<HostClient>;
  readonly sessionsFolder: string;
  /** Absent = a session is closed with its last handle. */
  readonly linger?: Linger | undefined;
  /** Called once for each session that is opened. The handle stays valid until the session is closed. */
  readonly opened?: ((handle: SessionHandle) => void) | undefined;
}

export interface Parts {
  readonly watch: Watch;
  readonly output: LogReader;
  readonly events: LogReader;
  readonly sizes: ResizeTrack;
  readonly folder: string;
}

interface Entry {
  readonly parts: Promise<Parts>;
  /** Once they are open. */
  watch?: Watch;
  /** The last attempt to watch it on another connection. */
  reopening?: Promise<void>;
  users: number;
  /** Set while no handle is open and the entry waits for the next one. */
  lingering?: Disposable | undefined;
}

/** Entries that may wait for the next handle; beyond it they are closed at once. */
const LINGERING = 64;

/** One watch and one set of open files for each session, however many handles there are. */
export class SharedSessions {
  readonly #options: SharedSessionsOptions;
  readonly #entries = new Map<string, Entry>();
  #lingering = 0;

  constructor(options: SharedSessionsOptions) {
    this.#options = options;
  }

  /** Sessions with an open handle. */
  get size(): number {
    return this.#entries.size - this.#lingering;
  }

  find(sessionId: string): Session | undefined {
    return this.#entries.get(sessionId)?.watch?.session;
  }

  async open(sessionId: string): Promise<SessionHandle> {
    const entry = this.#entries.get(sessionId) ?? { parts: this.#open(sessionId), users: 0 };
    this.#entries.set(sessionId, entry);
    entry.users += 1;
    this.#stay(entry);
    const leave = (parts: Parts | undefined) => this.#leave(sessionId, entry, parts);
    let parts: Parts | undefined;
    try {
      parts = await entry.parts;
      entry.watch = parts.watch;
      await this.#reach(entry, parts.watch);
    } catch (error) {
      leave(parts);
      throw error;
    }
    if (parts.watch.state !== "closed") return createHandle(parts, () => leave(parts));
    // The session was removed while others still read the rest.
    if (this.#entries.get(sessionId) === entry) this.#entries.delete(sessionId);
    leave(parts);
    return await this.open(sessionId);
  }

  /** Watches every open session on this connection. Those that the host no longer has are closed. */
  reopen(client: HostClient): void {
    for (const [sessionId, entry] of this.#entries) {
      const { watch } = entry;
      if (watch?.state === "lost") entry.reopening = rewatch(client, sessionId, watch);
    }
  }

  /** The host will not come back: nothing changes any more. */
  close(): void {
    for (const { watch } of this.#entries.values()) watch?.onClosed();
  }

  async #reach(entry: Entry, watch: Watch): Promise<void> {
    if (watch.state !== "lost") return;
    await this.#options.connect();
    await entry.reopening;
    if (watch.state === "lost") throw new Fault("host_unavailable", "the host was lost again");
  }

  async #open(sessionId: string): Promise<Parts> {
    const host = await this.#options.connect();
    const watch = await host.watch(sessionId);
    const parts = openParts(watch, join(this.#options.sessionsFolder, sessionId));
    this.#options.opened?.(createHandle(parts, () => undefined));
    return parts;
  }

  #leave(sessionId: string, entry: Entry, parts: Parts | undefined): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    const { linger } = this.#options;
    const mayWait =
      parts?.watch.state === "open" &&
      this.#entries.get(sessionId) === entry &&
      this.#lingering < LINGERING;
    if (linger === undefined || !mayWait) {
      this.#close(sessionId, entry, parts);
      return;
    }
    this.#lingering += 1;
    entry.lingering = linger.clock.timer(linger.ms, () => {
      this.#stay(entry);
      this.#close(sessionId, entry, parts);
    });
  }

  #stay(entry: Entry): void {
    if (entry.lingering === undefined) return;
    entry.lingering[Symbol.dispose]();
    entry.lingering = undefined;
    this.#lingering -= 1;
  }

  #close(sessionId: string, entry: Entry, parts: Parts | undefined): void {
    if (this.#entries.get(sessionId) === entry) this.#entries.delete(sessionId);
    parts?.watch[Symbol.dispose]();
    parts?.output[Symbol.dispose]();
    parts?.events[Symbol.dispose]();
  }
}

/** A failure leaves it lost: the connection has ended again, and the next one tries. */
async function rewatch(client: HostClient, sessionId: string, watch: Watch): Promise<void> {
  try {
    await client.watch(sessionId, watch);
  } catch (error) {
    if (asFault(error).code === "session_not_found") watch.onClosed();
  }
}

function openParts(watch: Watch, folder: string): Parts {
  const events = openLogFiles(join(folder, "events"));
  return {
    ...{ watch, folder },
    output: openLogFiles(join(folder, "output")),
    events,
    sizes: new ResizeTrack(watch.session.mode === "pty" ? events : undefined),
  };
}

/** A session without a host: its files are read, and nothing changes. */
export function openStoppedSession(session: Session, sessionsFolder: string): SessionHandle {
  const watch = new Watch(session, () => undefined);
  watch.onClosed();
  const parts = openParts(watch, join(sessionsFolder, session.session_id));
  return createHandle(parts, () => {
    parts.output[Symbol.dispose]();
    parts.events[Symbol.dispose]();
  });
}

const states = { open: "open", lost: "unreachable", closed: "closed" } as const;

/** One of the handles that share these parts. */
export function createHandle({ watch, ...logs }: Parts, leave: () => void): SessionHandle {
  const stack = new DisposableStack();
  stack.defer(leave);
  return {
    ...logs,
    get session() {
      return watch.session;
    },
    get tail() {
      return watch.tail;
    },
    get eventsTail() {
      return watch.eventsTail;
    },
    get state() {
      return states[watch.state];
    },
    get recent() {
      return watch.recent;
    },
    changed: (options) => watch.changed(options),
    until: async (check, options = {}) => {
      while (!check(watch) && watch.state !== "closed" && options.signal?.aborted !== true)
        await watch.changed(options);
    },
    on: (listener) => watch.on(listener),
    [Symbol.dispose]: () => stack.dispose(),
  };
}
