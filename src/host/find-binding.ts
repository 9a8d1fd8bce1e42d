import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DataDir } from "./data-dir.ts";

/** The user's secret, or a session's, with which a connection is bound. */
export interface Binding {
  readonly session_id?: string;
  readonly secret: string;
}

export const USER_SECRET = "user";
export const SESSION_SECRET = "secret";

/** The part of the environment that says in whose session a process runs. */
export type BoundEnvironment = Readonly<Record<string, string | undefined>>;

const SESSION_ID = /^ses_[0-9a-z]+$/;

/**
 * The secret with which this process binds its connection. The session that its environment names may be another data directory's;
 * then it is the user's here. Undefined where no secret can be read. Loads no schema.
 */
export function findBinding(
  { secrets }: Pick<DataDir, "secrets">,
  { REINS_BOUND_SESSION_ID: session_id = "" }: BoundEnvironment,
): Binding | undefined {
  if (SESSION_ID.test(session_id)) {
    const secret = readIfAllowed(join(secrets, session_id, SESSION_SECRET));
    if (secret !== undefined) return { session_id, secret };
  }
  const secret = readIfAllowed(join(secrets, USER_SECRET));
  return secret === undefined ? undefined : { secret };
}

function readIfAllowed(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // An older host made none, or a sandbox hides it: the host decides what a connection without a secret may do.
    return undefined;
  }
}
