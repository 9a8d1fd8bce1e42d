import { closeSync, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SessionKind, SessionName } from "#contract/session.ts";
import { SessionNeed, SessionState, SessionTurn, SessionUsage } from "#contract/session-state.ts";

export const RECORD_VERSION = 1;

/** What callers attach to a session; the host keeps it and never looks inside but for the idempotency key. */
export const Labels = z
  .record(z.string().max(limits.label_chars), z.string().max(limits.label_chars))
  .refine(
    (labels) => Object.keys(labels).length <= limits.labels,
    `at most ${limits.labels} labels`,
  );
export type Labels = z.infer<typeof Labels>;

/** An agent's status, and how far its events log was read for it. */
const KeptStatus = z.object({
  needs: z.array(SessionNeed.extend({ subagent_id: z.string().optional() })).readonly(),
  last_line: z.string(),
  turn: SessionTurn.nullable(),
  usage: SessionUsage.nullable(),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  queue: z.array(z.string()).readonly(),
  has_begun: z.boolean(),
  is_cut: z.boolean(),
  is_held: z.boolean(),
  crashes: z.int(),
  partial: z.object({ message_id: z.string(), text: z.string() }).nullable(),
  read: z.int(),
});
export type KeptStatus = z.infer<typeof KeptStatus>;

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
  name: SessionName.nullable().optional(),
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
  /** The boot that the mark belongs to; absent in records of an older host. */
  boot_id: z.string().optional(),
  tail: z.int(),
  first_offset: z.int(),
  events_tail: z.int(),
  disk_bytes: z.int(),
  lost_bytes: z.int(),
  /** The last line of a terminal's or a command's output. Absent in records of an older host, like the next. */
  last_line: z.string().optional(),
  /** One that cannot be read is made again from the log. */
  agent_status: KeptStatus.optional().catch(undefined),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

export const RECORD_FILE = "session.json";
/** What `stat` counts in, whatever the file system does. */
const BLOCK_BYTES = 512;

export function writeRecord(dir: string, record: SessionRecord): void {
  const path = join(dir, RECORD_FILE);
  const content = `${JSON.stringify(record)}\n`;
  try {
    writeFileAtomic(path, content);
  } catch (error) {
    const isFull = isErrno(error, "ENOSPC", "EDQUOT");
    if (!isFull || !writeOver(path, Buffer.from(content))) throw error;
  }
}

/**
 * Where a second file has no room the first one is written over, as far as its own room goes: how a session has ended
 * must not be forgotten because it printed until the disk was full. One write, so that only the end of the machine
 * itself can halve it. False when it does not fit.
 */
function writeOver(path: string, content: Buffer): boolean {
  const fd = openSync(path, "r+");
  try {
    const { size, blocks } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.max(size, content.length), " ");
    content.copy(bytes);
    if (bytes.length > blocks * BLOCK_BYTES) return false;
    return writeSync(fd, bytes, 0, bytes.length, 0) === bytes.length;
  } finally {
    closeSync(fd);
  }
}

export type ReadRecord =
  | { readonly ok: true; readonly record: SessionRecord }
  | { readonly ok: false; readonly problem: string };

/** A record that is missing, torn or newer is reported, not thrown: it must not stop the others. */
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
