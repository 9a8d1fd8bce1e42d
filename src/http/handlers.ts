import type { Caller } from "#app/caller.ts";
import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { type HandledName, type OperationName, operations } from "#contract/operations.ts";
import { COOKIE } from "./door.ts";
import type { FailedLogins } from "./failed-logins.ts";
import type { RequestCounts } from "./metrics.ts";
import { describeApi } from "./openapi.ts";

export interface HandlerOptions {
  readonly signal: AbortSignal;
  /** The peer's. */
  readonly address: string;
  /** Added to the answer. */
  readonly headers: Headers;
}

export type Handler = (input: unknown, options: HandlerOptions) => Promise<unknown>;

export interface HandlerDeps {
  readonly gateway: Gateway;
  readonly counts: RequestCounts;
  readonly isTls: boolean;
  readonly failedLogins: FailedLogins;
}

/** Those that the door itself answers; everything else is the gateway's. */
const ofTheDoor: Partial<
  Record<HandledName, (deps: HandlerDeps, caller: Caller | undefined) => Handler>
> = {
  "server.openapi": () => async () => describeApi(),
  "server.limits": () => async () => limits,
  "server.health":
    ({ gateway }, caller) =>
    () =>
      gateway.health(caller),
  "server.metrics":
    ({ gateway, counts }) =>
    () =>
      counts.report(gateway),
  "ticket.exchange": (deps) => (input, options) => exchange(deps, input, options),
};

export function findHandler(
  deps: HandlerDeps,
  name: OperationName,
  caller: Caller | undefined,
): Handler {
  if (operations[name].answers === "socket")
    throw new Fault("invalid_request", "this is a WebSocket: ask for an upgrade");
  // What is no socket is handled: see HandledName.
  const own = ofTheDoor[name as HandledName];
  if (own !== undefined) return own(deps, caller);
  if (caller === undefined) throw new Fault("unauthenticated", "this needs a token");
  // The rest is the gateway's, and the input was parsed with the schema that its handler is typed by.
  return deps.gateway.operations(caller)[name as keyof GatewayOperations] as Handler;
}

async function exchange(
  { gateway, isTls, failedLogins }: HandlerDeps,
  input: unknown,
  { headers, address }: HandlerOptions,
): Promise<unknown> {
  const { ticket } = input as { readonly ticket: string };
  const { identity, cookie, max_age_ms } = takeTicket(
    () => gateway.exchangeTicket(ticket),
    (fault) => failedLogins.add(address, fault),
  );
  const attributes = [
    `${COOKIE}=${cookie}`,
    "HttpOnly",
    "SameSite=Strict",
    "Path=/",
    `Max-Age=${Math.floor(max_age_ms / 1000)}`,
    ...(isTls ? ["Secure"] : []),
  ];
  headers.set("Set-Cookie", attributes.join("; "));
  return identity;
}

/** A wrong ticket is a wrong token. */
function takeTicket<T>(take: () => T, count: (fault: Fault) => Fault): T {
  try {
    return take();
  } catch (error) {
    const fault = asFault(error);
    throw fault.code === "unauthenticated" ? count(fault) : error;
  }
}
