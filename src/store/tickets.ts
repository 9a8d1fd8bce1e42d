import * as z from "zod";
import { TokenId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { assertRoom, parseRow, type TableDeps } from "./page.ts";
import { createTicketSecret, hashSecret } from "./secret.ts";
import { createRevokedFault, sweepExpired, type TokenRecords, type TokenRow } from "./tokens.ts";

export interface TicketRecords {
  /** `unauthenticated` when the token has just been revoked. */
  create(tokenId: string): { readonly secret: string; readonly expires_at: string };
  /** The token that it stands for, to whoever is first; undefined for everybody else and when it is too late. */
  take(secret: string): TokenRow | undefined;
}

/** So that one caller cannot take the tickets of all. */
const TICKETS_PER_TOKEN = 100;

const TicketRow = z.object({ token_id: TokenId, expires_at: z.iso.datetime() });

export function createTicketRecords(deps: TableDeps, tokens: TokenRecords): TicketRecords {
  const { database } = deps;
  const count = (where: string, values = {}) =>
    database.number(`SELECT count(*) FROM tickets ${where}`, values);
  return {
    create: (tokenId) =>
      database.transaction(() => {
        sweepExpired(deps);
        const token = tokens.findById(tokenId);
        if (token === undefined) throw createRevokedFault();
        const token_id = token.root_token_id;
        assertRoom(count(""), limits.tickets, "open tickets");
        const own = count("WHERE token_id = :token_id", { token_id });
        assertRoom(own, TICKETS_PER_TOKEN, "open tickets of this token");
        const secret = createTicketSecret();
        const expires_at = deps.later(limits.ticket_ms);
        database.run("INSERT INTO tickets VALUES (:hash, :token_id, :expires_at)", {
          hash: hashSecret(secret),
          token_id,
          expires_at,
        });
        return { secret, expires_at };
      }),
    take: (secret) => {
      // One statement: of all who try at once, one gets the row.
      const row = database.first("DELETE FROM tickets WHERE secret_hash = :hash RETURNING *", {
        hash: hashSecret(secret),
      });
      const ticket = parseRow(deps, TicketRow, row);
      if (ticket === undefined || ticket.expires_at <= deps.now()) return undefined;
      return tokens.findById(ticket.token_id);
    },
  };
}
