import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { isAtLeast, withoutSecrets } from "#contract/token.ts";
import type { FailedLogins } from "./failed-logins.ts";
import type { Origins } from "./origins.ts";

/** A request or an upgrade, as far as the door looks at it. */
export interface Visit {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  readonly url: URL;
  readonly address: string;
}

export interface AuthDeps {
  readonly gateway: Gateway;
  readonly origins: Origins;
  readonly failedLogins: FailedLogins;
}

export const COOKIE = "reins";
/** A page says it with every request that changes something: no form and no link of another page can. */
const PAGE_HEADER = "x-reins-page";
/** The header of the execd API; takes one of our tokens. */
export const EXECD_HEADER = "x-execd-access-token";

const SAFE_METHODS = ["GET", "HEAD"];
const SECRET_NAMES = ["token", "access_token", "auth_token", "api_key", "ticket", "secret"];

/** What everybody passes, with or without a token. */
export function checkOriginAndHost({ origins }: AuthDeps, { header, url }: Visit): void {
  origins.checkHost(header("host"));
  origins.checkOrigin(header("origin"));
  const secret = [...url.searchParams].find(isSecret)?.[0];
  if (secret !== undefined) {
    throw new Fault(
      "invalid_request",
      `${secret}: a secret does not belong into an address, which is logged and shared; send it as Authorization: Bearer`,
      { details: { field: secret } },
    );
  }
}

function isSecret([name, value]: readonly [string, string]): boolean {
  return SECRET_NAMES.includes(name.toLowerCase()) || value !== withoutSecrets(value);
}

/** Who comes; undefined without any token. A wrong one is refused, never ignored. */
function identify(deps: AuthDeps, visit: Visit): Who | undefined {
  const presented = findSecret(visit);
  if (presented === undefined) return undefined;
  const caller = deps.gateway.identify(presented.secret);
  if (caller === undefined) throw deps.failedLogins.add(visit.address, unknownToken());
  if (presented.from === "cookie") checkPage(visit);
  return caller;
}

/**
 * The same for operations that need no token. A browser sends its cookie by itself: one that has ended counts as none, or it
 * would keep its browser from signing in again.
 */
export function authenticateOptional(deps: AuthDeps, visit: Visit): Who | undefined {
  const presented = findSecret(visit);
  const isKnown = presented !== undefined && deps.gateway.identify(presented.secret) !== undefined;
  if (presented?.from === "cookie" && !isKnown) return undefined;
  return identify(deps, visit);
}

/** The caller, who has the role that the operation needs. */
export function authorize(
  deps: AuthDeps,
  visit: Visit,
  { role }: Pick<OperationSpec, "role">,
): Who {
  const caller = identify(deps, visit);
  if (caller === undefined) throw deps.failedLogins.add(visit.address, missingToken());
  if (role === "anyone" || isAtLeast(caller.role, role)) return caller;
  throw new Fault("forbidden", `this needs the role ${role}; your token has ${caller.role}`, {
    details: { needed: role, role: caller.role },
  });
}

interface Presented {
  readonly secret: string;
  readonly from: "header" | "cookie";
}

function findSecret({ header }: Visit): Presented | undefined {
  const authorization = header("authorization");
  if (authorization !== undefined) {
    const bearer = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
    if (bearer === undefined)
      throw new Fault("unauthenticated", "the Authorization header has the form: Bearer TOKEN");
    return { secret: bearer, from: "header" };
  }
  const execd = header(EXECD_HEADER);
  if (execd !== undefined) return { secret: execd, from: "header" };
  const cookie = findCookie(header("cookie"));
  return cookie === undefined ? undefined : { secret: cookie, from: "cookie" };
}

function findCookie(header: string | undefined): string | undefined {
  for (const part of header?.split(";") ?? []) {
    const [name, value] = part.trim().split("=", 2);
    if (name === COOKIE && value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** A browser sends its cookie by itself, so the request must show that one of our own pages made it. */
function checkPage({ method, header }: Visit): void {
  const isUpgrade = method === "GET" && header("upgrade") !== undefined;
  if (SAFE_METHODS.includes(method) && !isUpgrade) return;
  if (header("origin") === undefined)
    throw new Fault("forbidden", "a cookie alone does not do this: the Origin header is missing");
  if (isUpgrade || header(PAGE_HEADER) !== undefined) return;
  throw new Fault(
    "forbidden",
    `a cookie alone does not do this: send the header ${PAGE_HEADER}: 1`,
  );
}

function missingToken(): Fault {
  return new Fault("unauthenticated", "send a token: Authorization: Bearer TOKEN");
}

function unknownToken(): Fault {
  return new Fault("unauthenticated", "this token is not known: wrong, revoked or expired");
}
