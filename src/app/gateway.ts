import type { Health } from "#contract/operations/server.ts";
import type { Operations } from "#contract/operations.ts";
import type { Tools } from "#contract/tools/tools.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { Audit } from "./audit.ts";
import type { Where, Who } from "./caller.ts";
import type { ExchangedTicket } from "./ticket.ts";

/** Those that a door answers by itself. */
type OfTheDoor = Extract<keyof Operations, `server.${string}`> | "ticket.exchange";
export type GatewayOperations = Omit<Operations, OfTheDoor>;

/** Everything that a door to the world needs: who comes, what they may call, and sessions to follow. */
export interface Gateway extends AsyncDisposable {
  /** The caller whose token this is. */
  identify(secret: string): Who | undefined;
  /** Whether the token is still one, and so is the cookie. */
  knows(who: Who): boolean;
  exchangeTicket(ticket: string): ExchangedTicket;
  operations(who: Who): GatewayOperations;
  /** What a model of the caller may be given. */
  tools(who: Who): Tools;
  health(who: Who | undefined): Promise<Health>;
  /** Undefined when no host answers. */
  hostHealth(): Promise<HostHealth | undefined>;
  readonly hosts: SessionHosts;
  readonly screens: Screens;
  readonly audit: Audit;
  /** The environment and the directory of the children of every caller. */
  readonly where: Where;
}
