import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { compareNewest, type RunRecord } from "./run-record.ts";
import { normalizeAddress } from "./target-word.ts";

/** What lives, by the host's word, with the address of its own where it has one. */
export interface Run {
  readonly session: Session;
  readonly address: string | null;
}

/**
 * The one list, for `reins ps` and for whoever looks for a run: the host says what is there, records only add to it.
 * A record without a session adds nothing, a session without a record is a run all the same.
 */
export function joinRuns(sessions: readonly Session[], records: readonly RunRecord[]): Run[] {
  const addresses = new Map<string, string>();
  // The newest writer's comes first and stays.
  for (const { session_id, address } of records)
    if (address !== null && !addresses.has(session_id)) addresses.set(session_id, address);
  return sessions
    .toSorted((a, b) => compareNewest(placeOf(a), placeOf(b)))
    .map((session) => ({
      session,
      address: isLive(session) ? (addresses.get(session.session_id) ?? null) : null,
    }));
}

/** A session that another one started is a part of that one's run. */
export function isRun({ parent_session_id }: Pick<Session, "parent_session_id">): boolean {
  return parent_session_id === null;
}

export function findByAddress(
  records: readonly RunRecord[],
  address: string,
): RunRecord | undefined {
  const wanted = normalizeAddress(address);
  return records.find(
    (record) => record.address !== null && normalizeAddress(record.address) === wanted,
  );
}

function placeOf({ created_at, session_id }: Session) {
  return { at: created_at, id: session_id };
}
