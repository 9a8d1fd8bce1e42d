import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { SessionId } from "#contract/ids.ts";
import { RecordKeeper } from "#host/session/record-keeper.ts";
import type { SessionRecord } from "#host/session/session-record.ts";

/** The record of a command that runs, kept in a folder of the test's. */
export function openKeeper(dir: string) {
  const clock = new ManualClock();
  const at = new Date(clock.now()).toISOString();
  const record: SessionRecord = {
    version: 1,
    session_id: SessionId.parse("ses_0000000000000000"),
    kind: "command",
    mode: "pipe",
    argv: ["true"],
    shell: null,
    work_dir: "/",
    title: "before",
    labels: {},
    parent_session_id: null,
    detach: false,
    cols: null,
    rows: null,
    grace_ms: 0,
    idle_timeout_ms: 0,
    lifetime_ms: 0,
    created_at: at,
    last_io_at: at,
    exited_at: null,
    state: { kind: "running" },
    process: null,
    limit_mark: null,
    tail: 0,
    first_offset: 0,
    events_tail: 0,
    disk_bytes: 0,
    lost_bytes: 0,
  };
  return { clock, keeper: new RecordKeeper({ dir, log: silentLogger, clock, record }) };
}
