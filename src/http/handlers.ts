import type { Who } from "#app/caller.ts";
import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { type HandledName, type OperationName, operations } from "#contract/operations.ts";
import { COOKIE } from "./auth.ts";
import type { FailedLogins } from "./failed-logins.ts";
import type { RequestCounts } from "./metrics.ts";
import { describeApi } from "./openapi.ts";

interface HandlerOptions {
  readonly signal: AbortSignal;
  /** The peer's. */
  readonly address: string;
  /** Added to the answer. */
  readonly headers: Headers;
}

export type Handler = (input: unknown, options: HandlerOptions) => Promise<unknown>;

interface HandlerDeps {
  readonly gateway: Gateway;
  readonly counts: RequestCounts;
  /** Browsers come by https, so a cookie is for it alone. */
  readonly isSecure: boolean;
  readonly failedLogins: FailedLogins;
}

/** Those that the door itself answers; everything else is the gateway's. */
const ofTheDoor: Partial<
  Record<HandledName, (deps: HandlerDeps, caller: Who | undefined) => Handler>
> = {
  "server.openapi": () => async () => describeApi(),
  "server.limits": () => async () => limits,
  "server.health":
    ({ gateway }, caller) =>
    () =>
      gateway.health(caller),
  "server.metrics":
    ({ gateway, counts }, caller) =>
    () =>
      counts.report(gateway, caller),
  "ticket.exchange": (deps) => (input, options) => exchange(deps, input, options),
  "caller.logout": (deps, caller) => (_input, options) => logOut(deps, caller, options),
};

export function findHandler(
  deps: HandlerDeps,
  name: OperationName,
  caller: Who | undefined,
): Handler {
  if (operations[name].answers === "socket")
    throw new Fault("invalid_request", "this is a WebSocket: ask for an upgrade");
  // What is no socket is handled: see HandledName.
  const own = ofTheDoor[name as HandledName];
  if (own !== undefined) return own(deps, caller);
  if (caller === undefined) throw needsToken();
  // The rest is the gateway's, and the input was parsed with the schema that its handler is typed by.
  return deps.gateway.operations(caller)[name as keyof GatewayOperations] as Handler;
}

async function exchange(
  { gateway, isSecure, failedLogins }: HandlerDeps,
  input: unknown,
  { headers, address }: HandlerOptions,
): Promise<unknown> {
  const { ticket } = input as { readonly ticket: string };
  const { identity, cookie, max_age_ms } = takeTicket(
    () => gateway.exchangeTicket(ticket),
    (fault) => failedLogins.add(address, fault),
  );
  headers.set("Set-Cookie", describeCookie(cookie, Math.floor(max_age_ms / 1000), isSecure));
  return identity;
}

/** The cookie is taken from the browser also when it was somebody's token that came. */
async function logOut(
  { gateway, isSecure }: HandlerDeps,
  caller: Who | undefined,
  { headers }: HandlerOptions,
): Promise<unknown> {
  if (caller === undefined) throw needsToken();
  const done = await gateway.operations(caller)["caller.logout"]({});
  headers.set("Set-Cookie", describeCookie("", 0, isSecure));
  return done;
}

function describeCookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const attributes = ["HttpOnly", "SameSite=Strict", "Path=/", `Max-Age=${maxAgeSeconds}`];
  return [`${COOKIE}=${value}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; ");
}

function needsToken(): Fault {
  return new Fault("unauthenticated", "this needs a token");
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
