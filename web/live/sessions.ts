import type { Client } from "#client/client.ts";
import { type Pause, pause } from "#client/transport/backoff.ts";
import type { SessionsEvent } from "#contract/operations/reading.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { retryDelay } from "./retry.ts";
import { Store } from "./store.ts";

interface SessionsView {
  /** `away`: the server cannot be reached, and what is shown is what was last known. */
  readonly status: "connecting" | "live" | "away";
  readonly sessions: ReadonlyMap<string, Session>;
  /** Agents that need you. */
  readonly asking: ReadonlySet<string>;
}

type SessionsListener = (event: SessionsEvent) => void;

/** However much happens at once, the page is drawn at most this often. */
const FLUSH_MS = 60;
/** A server that is back is shown as such within a second; a longer outage waits longer, by `retryDelay`. */
const RECONNECT_MOST_MS = 600;
const PAGE_SIZE = 1000;
/** Sessions that a list shows; a server has room for no more than a part of it. */
const LISTED_MOST = 20_000;

/** Every session that the caller may see, as it is now. */
export class Sessions {
  readonly view = new Store<SessionsView>({
    status: "connecting",
    sessions: new Map(),
    asking: new Set(),
  });
  readonly #client: Pick<Client, "call" | "stream">;
  readonly #pause: Pause;
  readonly #listeners = new Set<SessionsListener>();
  #sessions = new Map<string, Session>();
  #hasListed = false;
  #status: SessionsView["status"] = "connecting";
  /** The server's clock minus this browser's. */
  #aheadMs = 0;
  #flushing: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Pick<Client, "call" | "stream">, wait: Pause = pause) {
    this.#client = client;
    this.#pause = wait;
  }

  /** The time by the server's clock, which its moments are compared with. */
  readonly serverNow = (): number => Date.now() + this.#aheadMs;

  /** Every session as the newest event left it, without the wait for the next drawing; undefined before the first list. */
  listed(): Iterable<Session> | undefined {
    return this.#hasListed ? this.#sessions.values() : undefined;
  }

  /** Calls for everything that happens from now on. */
  onEvent(listener: SessionsListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async follow(signal: AbortSignal): Promise<void> {
    let attempts = 0;
    while (!signal.aborted) {
      const error = await this.#followOnce(signal, () => {
        attempts = 0;
      });
      if (signal.aborted) return;
      const wait = retryDelay(error, attempts);
      if (wait === undefined) return;
      attempts += 1;
      this.#setStatus("away");
      // Rejects only when it is no longer wanted.
      await this.#pause(wait, signal).catch(() => undefined);
    }
  }

  /** Until the stream ends; why it did. */
  async #followOnce(signal: AbortSignal, onHeard: () => void): Promise<unknown> {
    const onCut = () => this.#setStatus("away");
    const options = { signal, onCut, longestPauseMs: RECONNECT_MOST_MS };
    try {
      for await (const { data } of this.#client.stream("sessions.watch", {}, options)) {
        await this.#apply(data, signal);
        onHeard();
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** What this page has just changed need not wait for the server to tell it. */
  put(session: Session): void {
    this.#sessions.set(session.session_id, session);
    this.#flushSoon();
  }

  async #apply(event: SessionsEvent, signal: AbortSignal): Promise<void> {
    if (event.type === "ready") {
      this.#aheadMs = Date.parse(event.at) - Date.now();
      // What happens meanwhile waits behind this in the stream, and is newer.
      const sessions = await listAll(this.#client, signal);
      this.#sessions = sessions;
      this.#hasListed = true;
      this.#setStatus("live");
    } else if (event.type === "session.removed") {
      this.#sessions.delete(event.session_id);
    } else this.#sessions.set(event.session.session_id, event.session);
    this.#flushSoon();
    for (const listener of [...this.#listeners]) listener(event);
  }

  #setStatus(status: SessionsView["status"]): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#flushSoon();
  }

  #flushSoon(): void {
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined;
      this.view.set({
        status: this.#status,
        sessions: new Map(this.#sessions),
        asking: findAsking(this.#sessions),
      });
    }, FLUSH_MS);
  }
}

function findAsking(sessions: ReadonlyMap<string, Session>): ReadonlySet<string> {
  const asking = new Set<string>();
  for (const { session_id, status } of sessions.values())
    if (status === "needs_you") asking.add(session_id);
  return asking;
}

async function listAll(
  client: Pick<Client, "call">,
  signal: AbortSignal,
): Promise<Map<string, Session>> {
  const found = new Map<string, Session>();
  let cursor: string | undefined;
  do {
    const page = await client.call(
      "session.list",
      { limit: PAGE_SIZE, ...defined({ cursor }) },
      { signal },
    );
    for (const session of page.sessions) found.set(session.session_id, session);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && found.size < LISTED_MOST);
  return found;
}
