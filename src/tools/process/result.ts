import type { Clock } from "#base/clock.ts";
import { asFault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import type { ProcessRead, ProcessResult } from "#contract/tools/process.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { type ModelView, viewForModel } from "./model-view.ts";

interface ReadRequest {
  readonly clock: Clock;
  readonly since?: number | undefined;
  readonly max_bytes?: number | undefined;
}

/** A result while it is put together: what is said twice is said side by side. */
export interface Draft extends ProcessRead {
  readonly notes: readonly string[];
  readonly errors: readonly string[];
}

export const STILL_RUNNING = "process is still running";

/** What a process has printed and how it stands. One that has exited has said all that it said itself. */
export function readProcess(handle: SessionHandle, request: ReadRequest): Draft {
  // The state before the tail: an exit that we know of has told its tail before.
  const { session } = handle;
  const { since = 0 } = request;
  const state = describeState(session.state);
  const view = readView(handle, { ...request, since, to: handle.tail, isOpen: state.running });
  const lost = view.lost_bytes;
  return {
    ...state,
    output: view.text,
    wall_duration_ms: durationOf(session, request.clock),
    ...defined({ truncated: view.truncated }),
    offset: since,
    next_offset: view.next,
    notes: lost === 0 ? [] : [`${lost} bytes of this output are no longer kept`],
    errors: [...state.errors, ...view.errors],
    ...(state.running ? { background_process_id: session.session_id } : {}),
  };
}

export function toRead({ notes, errors, ...read }: Draft): ProcessRead {
  return {
    ...read,
    ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    ...(errors.length === 0 ? {} : { error: errors.join("; ") }),
  };
}

export function toResult(draft: Draft): ProcessResult {
  const { offset: _, next_offset: __, ...result } = toRead(draft);
  return result;
}

export function durationOf({ created_at, exited_at }: Session, clock: Clock): number {
  const end = exited_at === null ? clock.now() : Date.parse(exited_at);
  return Math.max(0, Math.round(end - Date.parse(created_at)));
}

interface Standing {
  readonly success: boolean;
  readonly running: boolean;
  readonly exit_code?: number;
  readonly signal?: string;
  readonly errors: readonly string[];
}

function describeState(state: SessionState): Standing {
  if (state.kind === "lost") {
    const why = state.detail ?? "its host died";
    return { success: false, running: false, errors: [`the process is lost: ${why}`] };
  }
  if (state.kind !== "exited") return { success: true, running: true, errors: [] };
  const { exit_code, signal, reason } = state;
  return {
    success: exit_code === 0,
    running: false,
    ...(exit_code === null ? {} : { exit_code }),
    ...(signal === null ? {} : { signal }),
    errors: reason === "lifetime_timeout" ? ["its lifetime was over, so it was ended"] : [],
  };
}

interface View extends Pick<ModelView, "text" | "truncated" | "next" | "lost_bytes"> {
  readonly errors: readonly string[];
}

interface ViewRequest extends Pick<ReadRequest, "max_bytes"> {
  readonly since: number;
  readonly to: number;
  readonly isOpen: boolean;
}

/** Output that cannot be read must not hide what became of the process. */
function readView({ output }: SessionHandle, { since, to, max_bytes, isOpen }: ViewRequest): View {
  try {
    const budget = defined({ budget: max_bytes });
    return { ...viewForModel(output, { from: since, to, isOpen, ...budget }), errors: [] };
  } catch (error) {
    const fault = asFault(error);
    if (fault.code !== "internal") throw error;
    const why = `its output cannot be read: ${fault.message}`;
    return { text: "", next: since, lost_bytes: 0, errors: [why] };
  }
}
