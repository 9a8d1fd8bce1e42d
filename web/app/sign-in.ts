import type { Client } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import type { Identity } from "#contract/operations/access.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Sessions } from "#web/live/sessions.ts";
import { Store } from "#web/live/store.ts";
import { Toasts } from "#web/ui/toasts.tsx";
import { Commands } from "./commands.ts";
import type { App } from "./context.ts";
import type { TakenTicket } from "./ticket.ts";

type Entrance =
  | { readonly kind: "asking" }
  | { readonly kind: "outside"; readonly why: string | undefined }
  | { readonly kind: "inside"; readonly app: App };

const EXPIRED = "Your session has expired. Sign in again.";
const INVALID = "This ticket is invalid, used or expired. Run `reins open` for a new one.";

/**
 * The user of this page.
 *
 *   asking ──cookie, ticket──▶ inside ──401 of any request, stream or socket──▶ outside
 *      └──neither──▶ outside ──ticket──▶ asking …        inside ──another ticket──▶ inside, as its user
 */
export class SignIn {
  readonly view = new Store<Entrance>({ kind: "asking" });
  readonly #createClient: (onUnauthenticated: () => void) => Client;
  /** Ends everything that the user who is inside has open. */
  #visit = new AbortController();
  #attempts = 0;

  constructor(createClient: (onUnauthenticated: () => void) => Client) {
    this.#createClient = createClient;
  }

  /** By the ticket of an address, or by the cookie of before. A ticket that does not work signs no user out. */
  async enter(taken?: TakenTicket): Promise<void> {
    this.#attempts += 1;
    const attempt = this.#attempts;
    const before = this.view.get();
    if (before.kind !== "inside") this.view.set({ kind: "asking" });
    const visit = new AbortController();
    const client = this.#createClient(() => this.#expire(visit));
    try {
      const identity = await identify(client, taken);
      if (attempt === this.#attempts) this.#open(client, identity, visit);
    } catch (error) {
      if (attempt !== this.#attempts) return;
      const why = sayRefusal(error, taken);
      if (before.kind === "inside") before.app.toasts.add("bad", why ?? EXPIRED);
      else this.view.set({ kind: "outside", why });
    }
  }

  #open(client: Client, identity: Identity, visit: AbortController): void {
    this.#visit.abort();
    this.#visit = visit;
    const sessions = new Sessions(client);
    void sessions.follow(visit.signal);
    const app = { client, identity, sessions, commands: new Commands(), toasts: new Toasts() };
    this.view.set({ kind: "inside", app });
  }

  /** Only the current client signs out; an earlier one may still hear of its own end. */
  #expire(visit: AbortController): void {
    if (visit !== this.#visit || visit.signal.aborted) return;
    visit.abort();
    this.view.set({ kind: "outside", why: EXPIRED });
  }
}

async function identify(client: Client, taken: TakenTicket | undefined): Promise<Identity> {
  if (taken === undefined) return await client.call("caller.get", {});
  if (taken.ticket === undefined) throw new Fault("unauthenticated", "the ticket is malformed");
  return await client.call("ticket.exchange", { ticket: taken.ticket });
}

/** A browser that comes for the first time has done nothing wrong. */
function sayRefusal(error: unknown, taken: TakenTicket | undefined): string | undefined {
  const isRefused = error instanceof Fault && error.code === "unauthenticated";
  if (!isRefused) return sayFault(error);
  return taken === undefined ? undefined : INVALID;
}
