import { describeStatus } from "#contract/agent/agent-status.ts";
import { isLive } from "#contract/ended.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import type { Controller, Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionRecord } from "./session-record.ts";

/** What a session's record does not hold because it changes all the time. */
export interface Moving {
  readonly tail: number;
  readonly first_offset: number;
  readonly events_tail: number;
  readonly controller: Controller | null;
  readonly viewers: number;
  readonly last_io_at: string;
  readonly fault: { readonly code: string; readonly message: string } | undefined;
  readonly lost_bytes: number;
  readonly last_line?: string | undefined;
}

export function describeSession(record: SessionRecord, moving: Moving): Session {
  const { labels } = record;
  return {
    session_id: record.session_id,
    kind: record.kind,
    mode: record.mode,
    state: record.state,
    name: record.name ?? null,
    title: record.title,
    ...describeProgress(record, moving),
    host_id: null,
    unreachable_since: null,
    // Labels were checked by whoever set them; to the host they are opaque.
    workspace_id: (labels.workspace_id ?? LOCAL_WORKSPACE) as Session["workspace_id"],
    task_id: (labels.task_id ?? null) as Session["task_id"],
    issue_id: labels.issue_id ?? null,
    user_id: labels.user_id ?? null,
    parent_session_id: record.parent_session_id,
    work_dir: record.work_dir,
    shell: record.shell,
    argv: record.argv,
    // The worker of an agent that sleeps is gone; another process may have its number.
    pid: record.kind === "agent" && !isLive(record) ? null : (record.process?.pid ?? null),
    cols: record.cols,
    rows: record.rows,
    tail: moving.tail,
    first_offset: moving.first_offset,
    events_tail: moving.events_tail,
    controller: moving.controller,
    viewers: moving.viewers,
    created_at: record.created_at,
    last_io_at: moving.last_io_at,
    exited_at: record.exited_at,
    ...(record.kind === "agent" ? { life: record.life ?? 1 } : {}),
    ...describeLogFault(moving),
  };
}

type Progress = Pick<
  Session,
  "status" | "needs" | "last_line" | "turn" | "usage" | "agent" | "model"
>;

function describeProgress(record: SessionRecord, moving: Moving): Progress {
  const { kind, state, agent_status } = record;
  if (kind !== "agent") {
    const status = state.kind === "starting" || state.kind === "running" ? state.kind : "ended";
    return { ...NO_TURN, status, last_line: moving.last_line ?? "" };
  }
  if (agent_status === undefined) return { ...NO_TURN, status: null, last_line: "" };
  const { agent, model } = agent_status;
  return {
    ...describeStatus(state, agent_status),
    ...defined({ agent: agent ?? undefined, model: model ?? undefined }),
  };
}

const NO_TURN = { needs: [], turn: null, usage: null };

function describeLogFault(moving: Moving): Pick<Session, "log_fault"> {
  if (moving.fault === undefined && moving.lost_bytes === 0) return {};
  const isFull = moving.fault?.code === "ENOSPC" || moving.fault?.code === "EDQUOT";
  return {
    log_fault: {
      code: isFull ? "disk_full" : (moving.fault?.code ?? "gap"),
      message:
        moving.fault?.message ?? "some of the output could not be kept; it is a gap in the log",
      lost_bytes: moving.lost_bytes,
    },
  };
}
