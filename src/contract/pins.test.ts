import { expect, test } from "vitest";
import { channels } from "./channels.ts";
import { sessionEventTypes } from "./events.ts";
import { faults } from "./faults.ts";
import { clientFrameTypes, serverFrameTypes } from "./frames.ts";
import { limits } from "./limits.ts";
import { operations } from "./operations.ts";
import { EndReason } from "./session-state.ts";
import { signalNames } from "./signals.ts";

/** What others depend on, as literals: a change here is a change of the public wire. */

test("fault codes with their HTTP status and exit code", () => {
  const pinned = Object.entries(faults).map(
    ([code, { status, exit }]) => `${status} ${code} ${exit}`,
  );
  expect(pinned).toEqual([
    "400 invalid_request 2",
    "401 unauthenticated 4",
    "403 forbidden 4",
    "403 workspace_mismatch 4",
    "404 session_not_found 3",
    "404 task_not_found 3",
    "404 workspace_not_found 3",
    "404 process_not_found 3",
    "404 team_not_found 3",
    "404 run_not_found 8",
    "409 conflict 5",
    "409 busy 5",
    "409 already_exited 5",
    "409 not_controller 5",
    "409 nothing_pending 5",
    "409 nothing_running 5",
    "409 ambiguous_target 9",
    "413 payload_too_large 6",
    "416 offset_out_of_range 2",
    "422 spawn_failed 10",
    "422 team_invalid 11",
    "429 too_many 6",
    "429 queue_full 6",
    "500 internal 1",
    "501 unsupported 12",
    "501 unsupported_os 12",
    "502 model_failed 13",
    "503 host_unavailable 7",
    "503 shutting_down 7",
    "503 disk_full 7",
  ]);
});

test("operations and their routes", () => {
  expect(Object.entries(operations).map(([name, { http }]) => `${name} ${http}`)).toEqual([
    "session.create POST /v1/sessions",
    "session.list GET /v1/sessions",
    "session.get GET /v1/sessions/:session_id",
    "session.update PATCH /v1/sessions/:session_id",
    "session.close DELETE /v1/sessions/:session_id",
    "session.input POST /v1/sessions/:session_id/input",
    "session.resize POST /v1/sessions/:session_id/resize",
    "session.signal POST /v1/sessions/:session_id/signal",
    "session.interrupt POST /v1/sessions/:session_id/interrupt",
  ]);
});

test("events, frames, reasons, channels and signals", () => {
  expect(sessionEventTypes).toEqual([
    "session.opened",
    "session.resumed",
    "session.attached",
    "session.detached",
    "session.control",
    "session.resized",
    "session.title",
    "session.exited",
    "warning",
  ]);
  expect(clientFrameTypes).toEqual([
    "stdin",
    "resize",
    "signal",
    "control",
    "close",
    "eof",
    "ping",
  ]);
  expect(serverFrameTypes).toEqual([
    "connected",
    "screen",
    "stdout",
    "stderr",
    "gap",
    "resized",
    "control",
    "ack",
    "error",
    "exit",
    "closing",
    "pong",
  ]);
  expect(EndReason.options).toEqual([
    "exited",
    "user_requested",
    "idle_timeout",
    "lifetime_timeout",
    "parent_closed",
    "host_shutdown",
    "spawn_failed",
    "host_lost",
  ]);
  expect(channels).toEqual({ events: 0, stdout: 1, stderr: 2 });
  expect(signalNames.join(" ")).toBe(
    "SIGHUP SIGINT SIGQUIT SIGKILL SIGUSR1 SIGUSR2 SIGTERM SIGCONT SIGSTOP SIGTSTP SIGWINCH",
  );
});

test("limits that callers plan with", () => {
  expect(limits).toMatchObject({
    sessions_live: 2000,
    viewers_per_session: 500,
    frame_bytes: 1_048_576,
    input_queue_bytes: 4_194_304,
    environment_bytes: 262_144,
    title_chars: 200,
    output_retained_bytes: 67_108_864,
    events_bytes: 1_073_741_824,
    event_line_bytes: 1_048_576,
    lease_ms: 30_000,
    input_ids_remembered: 1024,
    terminal_size: 4096,
    exited_kept_count: 1000,
    exited_kept_bytes: 10_737_418_240,
    exited_kept_ms: 604_800_000,
  });
});
