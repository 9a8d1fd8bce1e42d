import { asFault, Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { Finder } from "./target.ts";

/**
 * The sessions that show what this process prints: the one it runs in, those that started that one, and those in whose
 * terminal `reins run` shows it. To print the output of one of them here would feed it to itself, without end.
 */
export async function findEnclosing(
  client: Finder,
  env: NodeJS.ProcessEnv,
): Promise<ReadonlySet<string>> {
  const own = env.REINS_SESSION_ID;
  if (own === undefined) return new Set();
  const found = new Set([own, ...outerSessions(env)]);
  for (let next: string | null = own; next !== null && found.size < MOST; ) {
    next = await findParent(client, next);
    if (next === null || found.has(next)) break;
    found.add(next);
  }
  return found;
}

/** Depth to which sessions inside of each other are known. */
const MOST = 32;

/** For `reins run`, before the environment is sent: the new session is inside of ours if its output is shown here. */
export function markNesting(
  env: NodeJS.ProcessEnv,
  { isShown }: { readonly isShown: boolean },
): void {
  const own = env.REINS_SESSION_ID;
  const outer = own === undefined ? [] : [...outerSessions(env), own].slice(-MOST);
  if (!isShown || outer.length === 0) delete env.REINS_OUTER_SESSIONS;
  else env.REINS_OUTER_SESSIONS = outer.join(":");
}

export function refuseEnclosing({ session_id }: Session, enclosing: ReadonlySet<string>): void {
  if (!enclosing.has(session_id)) return;
  const [own] = enclosing;
  const relation =
    session_id === own ? "this command runs in it" : `it shows ${own}, in which this command runs`;
  throw new Fault(
    "conflict",
    `cannot show ${session_id} here: ${relation}, so its output would repeat itself without end; name another session (see reins ps)`,
    { details: { session_id, inside: own ?? "" } },
  );
}

function outerSessions({ REINS_OUTER_SESSIONS = "" }: NodeJS.ProcessEnv): string[] {
  return REINS_OUTER_SESSIONS.split(":")
    .filter((id) => id !== "")
    .slice(-MOST);
}

async function findParent(client: Finder, session_id: string): Promise<string | null> {
  try {
    return (await client.call("session.get", { session_id })).parent_session_id;
  } catch (error) {
    // Another host's session, or one that this token may not see.
    if (["session_not_found", "invalid_request"].includes(asFault(error).code)) return null;
    throw error;
  }
}
