/**
 * The closed table of faults: HTTP status, exit code of the cli, and whether trying again later may help.
 * No zod in here: the cli's fast path loads it.
 */
interface FaultSpec {
  readonly status: number;
  readonly exit: number;
  readonly retry: boolean;
}

export const faults = {
  invalid_request: { status: 400, exit: 2, retry: false },
  unauthenticated: { status: 401, exit: 4, retry: false },
  forbidden: { status: 403, exit: 4, retry: false },
  workspace_mismatch: { status: 403, exit: 4, retry: false },
  session_not_found: { status: 404, exit: 3, retry: false },
  task_not_found: { status: 404, exit: 3, retry: false },
  workspace_not_found: { status: 404, exit: 3, retry: false },
  shell_not_found: { status: 404, exit: 3, retry: false },
  token_not_found: { status: 404, exit: 3, retry: false },
  process_not_found: { status: 404, exit: 3, retry: false },
  team_not_found: { status: 404, exit: 3, retry: false },
  run_not_found: { status: 404, exit: 8, retry: false },
  conflict: { status: 409, exit: 5, retry: false },
  busy: { status: 409, exit: 5, retry: true },
  already_exited: { status: 409, exit: 5, retry: false },
  not_controller: { status: 409, exit: 5, retry: false },
  input_out_of_order: { status: 409, exit: 5, retry: false },
  nothing_pending: { status: 409, exit: 5, retry: false },
  nothing_running: { status: 409, exit: 5, retry: false },
  ambiguous_target: { status: 409, exit: 9, retry: false },
  payload_too_large: { status: 413, exit: 6, retry: false },
  offset_out_of_range: { status: 416, exit: 2, retry: false },
  spawn_failed: { status: 422, exit: 10, retry: false },
  team_invalid: { status: 422, exit: 11, retry: false },
  too_many: { status: 429, exit: 6, retry: true },
  queue_full: { status: 429, exit: 6, retry: true },
  internal: { status: 500, exit: 1, retry: false },
  log_damaged: { status: 500, exit: 1, retry: false },
  unsupported: { status: 501, exit: 12, retry: false },
  unsupported_os: { status: 501, exit: 12, retry: false },
  model_failed: { status: 502, exit: 13, retry: true },
  host_unavailable: { status: 503, exit: 7, retry: true },
  shutting_down: { status: 503, exit: 7, retry: true },
  disk_full: { status: 503, exit: 7, retry: true },
  overloaded: { status: 503, exit: 7, retry: true },
} as const satisfies Record<string, FaultSpec>;

export type FaultCode = keyof typeof faults;

export function isFaultCode(code: unknown): code is FaultCode {
  return typeof code === "string" && Object.hasOwn(faults, code);
}
