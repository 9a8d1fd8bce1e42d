import { Fault } from "#contract/fault.ts";
import type { Secrets } from "#host/secrets.ts";
import { createBoundAccess, type HostAccess } from "./bound-access.ts";
import type { RequestOf } from "./requests.ts";

/**
 * Whose a connection is. The first request decides it:
 *
 *   unknown ── connection.bind, right secret ──► user | session
 *           ── connection.bind, wrong secret ──► refused
 *           ── any other, `acceptsUnbound` ────► user
 */
export type Owner =
  | { readonly kind: "unknown" | "user" | "refused" }
  | { readonly kind: "session"; readonly session_id: string };

/** A session as far as it matters to clients without a secret. */
export interface MaybeSandboxed {
  readonly isLive: boolean;
  readonly record: { readonly session_id: string; readonly sandbox?: string | undefined };
}

/** Clients of 0.1.0 bring no secret. They are taken for the user's as long as no sandboxed session lives. */
export function acceptsUnbound(sessions: readonly MaybeSandboxed[]): boolean {
  return !sessions.some(({ isLive, record: { sandbox = "off" } }) => isLive && sandbox !== "off");
}

/** The owner after `connection.bind`. */
export function bindOwner(
  owner: Owner,
  { session_id, secret }: RequestOf<"connection.bind">,
  { secrets, access }: { readonly secrets: Secrets | undefined; readonly access: HostAccess },
): Owner {
  if (owner.kind !== "unknown")
    throw new Fault("invalid_request", "a connection is bound once, by its first request");
  if (secrets === undefined) return { kind: "user" };
  if (session_id === undefined) return secrets.isUsers(secret) ? { kind: "user" } : REFUSED;
  // Its secret ends with the session.
  const isRight =
    secrets.isOf(session_id, secret) && access.sessions.find(session_id) !== undefined;
  return isRight ? { kind: "session", session_id } : REFUSED;
}

/** The owner after any other request. Throws `forbidden` for a connection that may ask for nothing. */
export function admitOwner(owner: Owner, { sessions }: HostAccess): Owner {
  if (owner.kind === "user" || owner.kind === "session") return owner;
  if (owner.kind === "unknown" && acceptsUnbound(sessions.all())) return { kind: "user" };
  throw wrongSecret();
}

export function accessOf(owner: Owner, access: HostAccess): HostAccess {
  return owner.kind === "session" ? createBoundAccess(access, owner.session_id) : access;
}

/** For a hand-over. */
export function formatOwner(owner: Owner): string | null {
  if (owner.kind === "unknown") return null;
  return owner.kind === "session" ? owner.session_id : owner.kind;
}

export function parseOwner(text: string | null): Owner {
  if (text === null) return { kind: "unknown" };
  if (text === "user" || text === "refused") return { kind: text };
  return { kind: "session", session_id: text };
}

export function wrongSecret(): Fault {
  return new Fault(
    "forbidden",
    "this connection has no secret that the host knows, so nothing is shown to it",
  );
}

const REFUSED: Owner = { kind: "refused" };
