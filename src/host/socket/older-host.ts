import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { isObject } from "#contract/values/is-object.ts";

/** The fields that a host without the feature `status` does not know. */
const unknownStatus = {
  ...{ name: null, status: null, needs: [], last_line: "", turn: null, usage: null },
  ...{ host_id: null, unreachable_since: null },
} satisfies Partial<Session>;

/** Where a message holds sessions. */
const HOLDERS = ["result", "session", "sessions"];

/** A message of an older host, in which the status of every session is unknown. */
export function completeSessions(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(completeSessions);
  if (!isObject(message)) return message;
  if ("session_id" in message && "state" in message) return { ...unknownStatus, ...message };
  const held = HOLDERS.filter((name) => name in message);
  const complete = held.map((name) => [name, completeSessions(message[name])]);
  return { ...message, ...Object.fromEntries(complete) };
}

export function noNames(version: string): Fault {
  return new Fault(
    "unsupported",
    `the host runs reins ${version}, which has no names. Bring it up to date with: reins host upgrade`,
    { details: { version } },
  );
}
