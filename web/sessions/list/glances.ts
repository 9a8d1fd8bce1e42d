import type { Client } from "#client/client.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Glance } from "#contract/operations/session.ts";
import type { Session } from "#contract/session.ts";
import { retryAfterOf } from "#web/live/retry.ts";
import { Store } from "#web/live/store.ts";

/** A glance at what runs is that old at most, while it is looked at. */
export const GLANCE_MS = 3000;
/** The oldest are forgotten first; a list shows a few dozen at a time. */
const GLANCES_KEPT = 2000;

interface Seen {
  readonly glance: Glance | undefined;
  readonly askedAt: number;
  /** Whether it ran when it was asked for: then there is more to see at its end. */
  readonly wasLive: boolean;
}

/** What the sessions that are looked at did last; the rest is not asked for. */
export class Glances {
  readonly view = new Store<ReadonlyMap<string, Glance>>(new Map());
  readonly #client: Pick<Client, "call">;
  readonly #now: () => number;
  readonly #seen = new Map<string, Seen>();
  #isAsking = false;
  /** The server has asked to be left alone until then. */
  #notBefore = 0;

  constructor(client: Pick<Client, "call">, now: () => number = Date.now) {
    this.#client = client;
    this.#now = now;
  }

  /** Asks for those that are due, in one call. One at a time: what is due then is asked for with the next. */
  async refresh(shown: readonly Session[], signal: AbortSignal): Promise<void> {
    const due = shown.filter((session) => this.#isDue(session)).slice(0, limits.glances);
    if (due.length === 0 || this.#isAsking || this.#now() < this.#notBefore) return;
    this.#isAsking = true;
    try {
      const session_ids = due.map(({ session_id }) => session_id);
      const { glances } = await this.#client.call("session.glances", { session_ids }, { signal });
      this.#keep(due, glances);
    } catch (error) {
      // The page says elsewhere that the server is away; a later round retries.
      if (error instanceof Fault) this.#notBefore = this.#now() + retryAfterOf(error);
    } finally {
      this.#isAsking = false;
    }
  }

  /** The last line of an agent is published; that of a terminal or a command is asked for. */
  #isDue(session: Session): boolean {
    if (session.kind === "agent") return false;
    const seen = this.#seen.get(session.session_id);
    if (seen === undefined || seen.wasLive !== isLive(session)) return true;
    return seen.wasLive && this.#now() - seen.askedAt >= GLANCE_MS;
  }

  #keep(asked: readonly Session[], glances: readonly Glance[]): void {
    const found = new Map(glances.map((glance) => [glance.session_id, glance]));
    const askedAt = this.#now();
    for (const session of asked) {
      const { session_id } = session;
      // Set anew, it is the youngest.
      this.#seen.delete(session_id);
      this.#seen.set(session_id, {
        glance: found.get(session_id),
        askedAt,
        wasLive: isLive(session),
      });
    }
    const ids = this.#seen.keys();
    while (this.#seen.size > GLANCES_KEPT) this.#seen.delete(ids.next().value ?? "");
    const view = new Map<string, Glance>();
    for (const [id, { glance }] of this.#seen) if (glance !== undefined) view.set(id, glance);
    this.view.set(view);
  }
}

/** The list and the rail look at the same sessions. */
const shared = new WeakMap<Client, Glances>();

export function glancesOf(client: Client): Glances {
  const known = shared.get(client) ?? new Glances(client);
  shared.set(client, known);
  return known;
}
