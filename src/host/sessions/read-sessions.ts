import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";
import { isLive } from "#contract/ended.ts";
import { SessionId } from "#contract/ids.ts";
import type { Session } from "#contract/session.ts";
import { readRecord, type SessionRecord } from "#host/session/session-record.ts";
import { describeSession } from "#host/session/session-view.ts";
import { transition } from "#host/session/transition.ts";

/** The sessions as their records tell, the newest first, for a directory that no host can serve. Writes nothing. */
export function readSessions(folder: string): Session[] {
  return listNames(folder)
    .flatMap((name) => {
      if (!SessionId.safeParse(name).success) return [];
      const read = readRecord(join(folder, name));
      return read.ok ? [describe(read.record)] : [];
    })
    .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

function describe(record: SessionRecord): Session {
  const { state } = record;
  const settled = isLive({ state }) ? transition(state, { kind: "host_died" }) : state;
  return describeSession(
    { ...record, state: settled },
    { ...record, controller: null, viewers: 0, fault: undefined },
  );
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}
