import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Session } from "#contract/session.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { Watch } from "#host/socket/watch.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import type { HostLink } from "./host-link.ts";
import { ResizeTrack } from "./resize-track.ts";

interface Parts {
  readonly watch: Watch;
  readonly output: LogFiles;
  readonly events: LogFiles;
  readonly sizes: ResizeTrack;
}

/**
 * One session as everybody in this process sees it: one watch at the host and one set of open files, however many
 * clients there are. A client is a cursor of its own on `output` and `events`; it takes nothing from the others.
 */
export interface SessionFeed extends Parts, Disposable {
  /** The newest that the host has told. */
  readonly session: Session;
}

interface Entry {
  readonly parts: Promise<Parts>;
  /** Once they are open. */
  watch?: Watch;
  users: number;
  /** Nobody uses it; it waits a moment for the next. */
  lingering?: Disposable | undefined;
}

/** Who reads by ranges comes again at once: so long a feed stays open for them. */
export interface Linger {
  readonly clock: Clock;
  readonly ms: number;
}

export interface FeedOptions {
  /** Absent = a feed is closed with its last user. */
  readonly linger?: Linger;
  /** Called for each session that is opened, with what the host tells of it until it is closed. */
  readonly opened?: (watch: Watch) => void;
}

/** Feeds that may wait for somebody; beyond it they are closed at once. */
const LINGERING = 64;

export class SessionFeeds {
  readonly #link: HostLink;
  readonly #folder: string;
  readonly #linger: Linger | undefined;
  readonly #opened: FeedOptions["opened"];
  readonly #entries = new Map<string, Entry>();
  #lingering = 0;

  constructor(link: HostLink, sessionsFolder: string, { linger, opened }: FeedOptions = {}) {
    this.#link = link;
    this.#folder = sessionsFolder;
    this.#linger = linger;
    this.#opened = opened;
  }

  /** Sessions that somebody looks at. */
  get size(): number {
    return this.#entries.size - this.#lingering;
  }

  /** The session of a feed that is open; its workspace never changes. */
  find(sessionId: string): Session | undefined {
    return this.#entries.get(sessionId)?.watch?.session;
  }

  /** The host that they are read from. */
  async connect(): Promise<HostClient> {
    return await this.#link.connect();
  }

  /** Throws `session_not_found`. Whoever opens it disposes it. */
  async open(sessionId: string): Promise<SessionFeed> {
    const entry = this.#entries.get(sessionId) ?? { parts: this.#open(sessionId), users: 0 };
    this.#entries.set(sessionId, entry);
    entry.users += 1;
    this.#stay(entry);
    const leave = (parts: Parts | undefined) => this.#leave(sessionId, entry, parts);
    const parts = await entry.parts.catch((error: unknown) => {
      leave(undefined);
      throw error;
    });
    if (parts.watch.isClosed) {
      // Its host has gone while others still read the rest: who comes now asks the next host.
      if (this.#entries.get(sessionId) === entry) this.#entries.delete(sessionId);
      leave(parts);
      return await this.open(sessionId);
    }
    entry.watch = parts.watch;
    using stack = new DisposableStack();
    stack.defer(() => leave(parts));
    const owned = stack.move();
    return {
      ...parts,
      get session() {
        return parts.watch.session;
      },
      [Symbol.dispose]: () => owned.dispose(),
    };
  }

  async #open(sessionId: string): Promise<Parts> {
    const host = await this.#link.connect();
    const watch = await host.watch(sessionId);
    this.#opened?.(watch);
    const folder = join(this.#folder, sessionId);
    const events = openLogFiles(join(folder, "events"));
    return {
      watch,
      output: openLogFiles(join(folder, "output")),
      events,
      sizes: new ResizeTrack(watch.session.mode === "pty" ? events : undefined),
    };
  }

  #leave(sessionId: string, entry: Entry, parts: Parts | undefined): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    const mayWait =
      parts !== undefined &&
      !parts.watch.isClosed &&
      this.#entries.get(sessionId) === entry &&
      this.#lingering < LINGERING;
    if (this.#linger === undefined || !mayWait) {
      this.#close(sessionId, entry, parts);
      return;
    }
    const { clock, ms } = this.#linger;
    this.#lingering += 1;
    entry.lingering = clock.timer(ms, () => {
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
