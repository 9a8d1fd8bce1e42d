import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SessionKind } from "#contract/session.ts";
import { SessionState } from "#contract/session-state.ts";

export const RECORD_VERSION = 1;

/** What callers attach to a session; the host keeps it and never looks inside but for the idempotency key. */
export const Labels = z
  .record(z.string().max(limits.label_chars), z.string().max(limits.label_chars))
  .refine(
    (labels) => Object.keys(labels).length <= limits.labels,
    `at most ${limits.labels} labels`,
  );
export type Labels = z.infer<typeof Labels>;

/** `session.json`: all that is known of a session besides its logs. Written before the child is started. */
export const SessionRecord = z.object({
  version: z.literal(RECORD_VERSION),
  session_id: SessionId,
  kind: SessionKind,
  mode: z.enum(["pty", "pipe"]),
  argv: z.array(z.string()),
  shell: z.string().nullable(),
  work_dir: z.string(),
  title: z.string(),
  labels: Labels,
  parent_session_id: SessionId.nullable(),
  detach: z.boolean(),
  cols: z.int().nullable(),
  rows: z.int().nullable(),
  grace_ms: z.int(),
  idle_timeout_ms: z.int(),
  lifetime_ms: z.int(),
  created_at: z.iso.datetime(),
  last_io_at: z.iso.datetime(),
  exited_at: z.iso.datetime().nullable(),
  /** Absent in what an older host wrote, and in what has had one life. */
  life: z.int().optional(),
  state: SessionState,
  process: z.object({ pid: z.int(), start_time: z.int(), boot_id: z.string() }).nullable(),
  limit_mark: z.int().nullable(),
  tail: z.int(),
  first_offset: z.int(),
  events_tail: z.int(),
  disk_bytes: z.int(),
  lost_bytes: z.int(),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

export const RECORD_FILE = "session.json";

export function writeRecord(dir: string, record: SessionRecord): void {
  writeFileAtomic(join(dir, RECORD_FILE), `${JSON.stringify(record)}\n`);
}

export type ReadRecord =
  | { readonly ok: true; readonly record: SessionRecord }
  | { readonly ok: false; readonly problem: string };

/** A record that is missing, torn or newer is said, not thrown: it must not stop the others. */
export function readRecord(dir: string): ReadRecord {
  try {
    const parsed = SessionRecord.safeParse(
      JSON.parse(readFileSync(join(dir, RECORD_FILE), "utf8")),
    );
    if (parsed.success) return { ok: true, record: parsed.data };
    return { ok: false, problem: z.prettifyError(parsed.error) };
  } catch (error) {
    return { ok: false, problem: String(error) };
  }
}
