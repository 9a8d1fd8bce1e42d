import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { asFault } from "#contract/fault.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { attachTo } from "./host-attachment.ts";
import { HostConnection } from "./host-connection.ts";
import type { HostListener, SessionHost, SessionHosts } from "./session-host.ts";
import { type Linger, SharedSessions, type SharedSessionsOptions } from "./shared-sessions.ts";

export interface LocalHostOptions extends Pick<SharedSessionsOptions, "sessionsFolder" | "opened"> {
  /** Connects to the host of this machine, and starts one if none runs. */
  readonly open: () => Promise<HostClient>;
  /** Connects only where a host runs. Absent = as `open`. */
  readonly find?: () => Promise<HostClient | undefined>;
  readonly linger?: Linger;
  /** Absent = handles are closed with the connection, and the next request opens another. */
  readonly reconnect?: Reconnect;
}

/** Where a lost connection is opened again while a handle is open or a listener needs it. */
export interface Reconnect {
  readonly clock: Clock;
  readonly log: Logger;
  /** Handles are closed when no host runs: none takes the place of one that has died. */
  readonly endsWithHost?: boolean;
}

/** How soon a lost connection is opened again, so that open handles learn what became of their sessions. */
const RECONNECT_MS = 250;
/** And how long the pause becomes while no host answers. */
const RECONNECT_MOST_MS = 5000;

/** For processes that readers of ranges come back to. */
export const LINGER_MS = 2000;

export interface LocalHosts extends SessionHosts, Disposable {}

/** The host of this machine: a unix socket, and files that this process reads itself. */
export function openLocalHosts(options: LocalHostOptions): LocalHosts {
  const host = new LocalHost(options);
  return { ...onlyHost(host), [Symbol.dispose]: () => host[Symbol.dispose]() };
}

/** For a process with one connection, which ends with it. The caller disposes the client. */
export function createLocalHosts(client: HostClient, sessionsFolder: string): SessionHosts {
  return onlyHost(new LocalHost({ open: async () => client, sessionsFolder }));
}

/** One host has every session. */
export function onlyHost(host: SessionHost): SessionHosts {
  return { of: () => host, place: () => host, all: () => [host] };
}

class LocalHost implements SessionHost, Disposable {
  readonly #options: LocalHostOptions;
  readonly #connection: HostConnection;
  readonly #sessions: SharedSessions;
  readonly #listeners = new Set<HostListener>();
  /** The connection that was asked for all sessions. */
  #watched: HostClient | undefined;
  #reconnecting: Disposable | undefined;
  #pauseMs = RECONNECT_MS;
  #isDisposed = false;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    this.#connection = new HostConnection(options.open, {
      opened: (client) => this.#onOpened(client),
      lost: () => this.#onLost(),
    });
    const connect = () => this.#connection.get();
    this.#sessions = new SharedSessions({ ...options, connect });
  }

  get state() {
    return this.#connection.state;
  }

  get followed(): number {
    return this.#sessions.size;
  }

  async connect(): Promise<void> {
    await this.#connection.get();
  }

  call: SessionHost["call"] = async (method, params) =>
    await (await this.#connection.get()).call(method, params);

  knows: SessionHost["knows"] = async (feature) =>
    (await this.#connection.get()).hello.features.includes(feature);

  async health(): Promise<HostHealth | undefined> {
    const { find = this.#options.open } = this.#options;
    try {
      const { current } = this.#connection;
      if (current !== undefined) return await current.call("host.health", {});
      using client = await find();
      return await client?.call("host.health", {});
    } catch (error) {
      if (asFault(error).code === "host_unavailable") return undefined;
      throw error;
    }
  }

  open: SessionHost["open"] = (sessionId) => this.#sessions.open(sessionId);

  find: SessionHost["find"] = (sessionId) => this.#sessions.find(sessionId);

  attach: SessionHost["attach"] = async (request) =>
    await attachTo(await this.#connection.get(), request);

  watchAll(listener: HostListener): Disposable {
    this.#listeners.add(listener);
    const { current } = this.#connection;
    if (current !== undefined) {
      listener.connected();
      this.#watch(current);
    }
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#reconnecting?.[Symbol.dispose]();
    this.#sessions.close();
    this.#connection[Symbol.dispose]();
  }

  #onOpened(client: HostClient): void {
    this.#pauseMs = RECONNECT_MS;
    this.#sessions.reopen(client);
    for (const listener of this.#listeners) listener.connected();
    this.#watch(client);
  }

  /** Sent at once, so it comes before whatever a listener asks for: a listing misses no change. */
  #watch(client: HostClient): void {
    if (this.#listeners.size === 0 || this.#watched === client) return;
    this.#watched = client;
    client
      .watchAll((...change) => {
        for (const listener of this.#listeners) listener.changed(...change);
      })
      .catch((error: unknown) => this.#options.reconnect?.log.warn("the host was lost", { error }));
  }

  #onLost(): void {
    const { reconnect } = this.#options;
    if (reconnect === undefined) {
      this.#sessions.close();
      return;
    }
    reconnect.log.warn("the host has gone");
    this.#reconnectLater(reconnect);
  }

  #reconnectLater(reconnect: Reconnect): void {
    this.#reconnecting = reconnect.clock.timer(this.#pauseMs, () => {
      const isNeeded = [...this.#listeners].some((listener) => listener.isNeeded());
      if (this.followed === 0 && !isNeeded) return;
      this.connect().catch((error: unknown) => this.#onUnreachable(reconnect, error));
    });
  }

  #onUnreachable(reconnect: Reconnect, error: unknown): void {
    if (this.#isDisposed) return;
    if (reconnect.endsWithHost === true && asFault(error).code === "host_unavailable") {
      this.#sessions.close();
      return;
    }
    reconnect.log.error("no host answers", { error });
    this.#pauseMs = Math.min(this.#pauseMs * 2, RECONNECT_MOST_MS);
    this.#reconnectLater(reconnect);
  }
}
