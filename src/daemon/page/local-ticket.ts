import { join } from "node:path";
import { createAudit } from "#app/audit.ts";
import { createTicketOperations } from "#app/ticket.ts";
import { systemClock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openLocalToken } from "#store/local-token.ts";
import { openStore } from "#store/store.ts";
import { findPageUrl } from "./gateway-record.ts";

interface LocalTicket {
  readonly page_url: string;
  readonly ticket: string;
}

/** Lets a browser into the gateway of this data directory, as its administrator. */
export async function createLocalTicket(dataDir: string): Promise<LocalTicket> {
  const page_url = findPageUrl(dataDir);
  if (page_url === undefined)
    throw new Fault("run_not_found", `nobody serves ${dataDir}; reins serve starts a server`);
  const { path } = openDataDir(dataDir);
  using store = openStore({ path: join(path, "reins.db"), clock: systemClock });
  const { token } = openLocalToken(store, join(path, "token"));
  const audit = createAudit(store, systemClock);
  const { ticket } = await createTicketOperations({ store, audit }, token)["ticket.create"]({});
  return { page_url, ticket };
}
