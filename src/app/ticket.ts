import { Fault } from "#contract/fault.ts";
import type { Identity } from "#contract/operations/access.ts";
import type { Operations } from "#contract/operations.ts";
import type { Store } from "#store/store.ts";
import { type Audit, onlyWorkspace } from "./audit.ts";
import type { Who } from "./caller.ts";

type TicketOperations = Pick<Operations, "ticket.create" | "ticket.exchange">;

interface TicketDeps {
  readonly store: Pick<Store, "tokens" | "tickets" | "transaction">;
  readonly audit: Audit;
}

export function createTicketOperations(
  deps: TicketDeps,
  caller: Pick<Who, "user_id" | "token_id" | "workspaces">,
): TicketOperations {
  return {
    "ticket.create": async () => {
      const { token_id } = caller;
      if (token_id === undefined)
        throw new Fault("forbidden", "a ticket stands for a token, and this caller came with none");
      const { secret, expires_at } = deps.store.tickets.create(token_id);
      deps.audit.record({
        action: "ticket.created",
        caller,
        workspace_id: onlyWorkspace(caller.workspaces),
        target_id: token_id,
      });
      return { ticket: secret, expires_at };
    },
    "ticket.exchange": async ({ ticket }) => exchangeTicket(deps, ticket).identity,
  };
}

export interface ExchangedTicket {
  readonly identity: Identity;
  /** The secret for the browser's cookie. */
  readonly cookie: string;
  readonly max_age_ms: number;
}

/** For the door, which sets the cookie. The ticket is used up only if there is a cookie for it. */
export function exchangeTicket({ store, audit }: TicketDeps, ticket: string): ExchangedTicket {
  const minted = store.transaction(() => {
    const token = store.tickets.take(ticket);
    return token === undefined ? undefined : store.tokens.createCookie(token);
  });
  if (minted === undefined)
    throw new Fault(
      "unauthenticated",
      "this ticket lets nobody in: it was used, it is too old, or there never was one",
    );
  const { user_id, role, workspaces, expires_at, created_at, root_token_id } = minted.token;
  audit.record({
    action: "ticket.exchanged",
    caller: { user_id, token_id: root_token_id },
    workspace_id: onlyWorkspace(workspaces),
    target_id: root_token_id,
  });
  const ends = Date.parse(expires_at ?? created_at);
  return {
    identity: { user_id, role, workspaces, expires_at },
    cookie: minted.secret,
    max_age_ms: ends - Date.parse(created_at),
  };
}
