import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { type Launch, planLaunch, writeScript } from "#host/launch.ts";
import { RECORD_FILE, RECORD_VERSION, type SessionRecord } from "#host/session/session-record.ts";
import type { ChildSpec } from "#proc/child.ts";
import { buildEnvironment } from "#proc/environment.ts";
import type { CreateRequest, ReviveRequest } from "./create-request.ts";

const DEFAULT_COLS = 80;
const DEFAULT_ROWS = 24;

export interface PreparedSession {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly spec: ChildSpec;
}

export interface SessionPlan {
  readonly folder: string;
  readonly session_id: Session["session_id"];
  /** Whose connection is used inside. */
  readonly bound: string | undefined;
  readonly now: number;
}

/** Makes the session's directory and says what will run in it; nothing runs yet. */
export function prepareSession(
  request: CreateRequest,
  { folder, session_id, bound, now }: SessionPlan,
): PreparedSession {
  const dir = join(folder, session_id);
  const launch = planLaunch({ ...request, path: request.env.PATH }, dir);
  makeDir(dir);
  try {
    writeScript(launch);
  } catch (error) {
    removeDir(dir);
    throw asDiskFault(error);
  }
  const record = createRecord(request, launch, { session_id, at: new Date(now).toISOString() });
  return { dir, record, spec: createSpec(request, record, bound) };
}

/** What runs next in a session that is there. */
export function prepareRevival(
  request: ReviveRequest,
  record: SessionRecord,
  bound: string | undefined,
): ChildSpec {
  const { argv, work_dir = record.work_dir } = request;
  return createSpec({ ...request, kind: record.kind }, { ...record, argv, work_dir }, bound);
}

/** The record goes last: whatever ends this in its middle leaves a session that can be removed again. */
export function removeDir(dir: string): void {
  for (const name of existsSync(dir) ? readdirSync(dir) : [])
    if (name !== RECORD_FILE) rmSync(join(dir, name), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
}

export function asDiskFault(error: unknown): unknown {
  if (isErrno(error, "EROFS"))
    return new Fault(
      "host_unavailable",
      "the data directory is on a read-only file system, so no session can be made",
      { details: { errno: "EROFS" }, cause: error },
    );
  if (!isErrno(error, "ENOSPC", "EDQUOT")) return error;
  return new Fault("disk_full", "the disk is full, so no session can be made; make room first", {
    cause: error,
  });
}

function makeDir(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    throw asDiskFault(error);
  }
}

function createRecord(
  request: CreateRequest,
  launch: Launch,
  { session_id, at }: { readonly session_id: Session["session_id"]; readonly at: string },
): SessionRecord {
  const isTerminal = request.kind === "terminal";
  return {
    version: RECORD_VERSION,
    session_id,
    kind: request.kind,
    mode: isTerminal ? "pty" : "pipe",
    argv: [...launch.argv],
    shell: launch.shell,
    work_dir: request.work_dir,
    name: request.name ?? null,
    title: request.title ?? launch.caption.slice(0, limits.title_chars),
    labels: request.labels ?? {},
    parent_session_id: request.parent_session_id ?? null,
    detach: request.detach ?? false,
    cols: isTerminal ? (request.cols ?? DEFAULT_COLS) : null,
    rows: isTerminal ? (request.rows ?? DEFAULT_ROWS) : null,
    grace_ms:
      request.grace_ms ?? (request.kind === "agent" ? limits.grace_agent_ms : limits.grace_ms),
    idle_timeout_ms: request.idle_timeout_ms ?? 0,
    lifetime_ms: request.lifetime_ms ?? 0,
    created_at: at,
    last_io_at: at,
    exited_at: null,
    state: { kind: "starting" },
    process: null,
    limit_mark: null,
    tail: 0,
    first_offset: 0,
    events_tail: 0,
    disk_bytes: 0,
    lost_bytes: 0,
  };
}

type Starting = Pick<
  CreateRequest,
  "kind" | "env" | "umask" | "open_files" | "brief" | "stdin" | "merged"
>;

function createSpec(
  request: Starting,
  record: SessionRecord,
  bound: string | undefined,
): ChildSpec {
  const { labels, session_id } = record;
  const { cols, rows } = record;
  return {
    session_id,
    argv: record.argv,
    work_dir: record.work_dir,
    umask: request.umask,
    open_files: request.open_files,
    brief: request.brief,
    size: cols === null || rows === null ? undefined : { cols, rows },
    stdin: request.stdin ?? request.kind === "agent",
    merged: request.merged,
    env: buildEnvironment({
      base: request.env,
      pty: record.mode === "pty",
      marks: {
        session_id,
        workspace_id: labels.workspace_id ?? LOCAL_WORKSPACE,
        task_id: labels.task_id,
        issue_id: labels.issue_id,
        user_id: labels.user_id,
        prior_session_id: labels.prior_session_id,
        agent: labels.agent === "1",
        bound_session_id: bound,
      },
    }),
  };
}
