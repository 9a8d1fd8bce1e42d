import { expect, test } from "vitest";
import { channels } from "./channels.ts";
import { sessionEventTypes } from "./events.ts";
import { faults } from "./faults.ts";
import { clientFrameTypes, serverFrameTypes } from "./frames.ts";
import { limits } from "./limits.ts";
import { operations } from "./operations.ts";
import { EndReason } from "./session-state.ts";
import { signalNames } from "./signals.ts";
import { terminalClientFrameTypes, terminalServerFrameTypes } from "./terminal-frames.ts";

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
    "404 shell_not_found 3",
    "404 token_not_found 3",
    "404 process_not_found 3",
    "404 team_not_found 3",
    "404 run_not_found 8",
    "409 conflict 5",
    "409 busy 5",
    "409 already_exited 5",
    "409 not_controller 5",
    "409 input_out_of_order 5",
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
    "500 log_damaged 1",
    "501 unsupported 12",
    "501 unsupported_os 12",
    "502 model_failed 13",
    "503 host_unavailable 7",
    "503 shutting_down 7",
    "503 disk_full 7",
    "503 overloaded 7",
  ]);
});

test("operations, their routes and who may", () => {
  const pinned = Object.entries(operations).map(
    ([name, { http, role }]) => `${name} ${http} ${role}`,
  );
  expect(pinned).toEqual([
    "session.create POST /v1/sessions operator",
    "session.list GET /v1/sessions viewer",
    "session.glances POST /v1/sessions/glances viewer",
    "session.get GET /v1/sessions/:session_id viewer",
    "session.update PATCH /v1/sessions/:session_id operator",
    "session.close DELETE /v1/sessions/:session_id operator",
    "session.input POST /v1/sessions/:session_id/input operator",
    "session.resize POST /v1/sessions/:session_id/resize operator",
    "session.signal POST /v1/sessions/:session_id/signal operator",
    "session.interrupt POST /v1/sessions/:session_id/interrupt operator",
    "session.output GET /v1/sessions/:session_id/output viewer",
    "session.events GET /v1/sessions/:session_id/events viewer",
    "session.screen GET /v1/sessions/:session_id/screen viewer",
    "session.wait POST /v1/sessions/:session_id/wait viewer",
    "session.export GET /v1/sessions/:session_id/export viewer",
    "session.attach GET /v1/sessions/:session_id/ws viewer",
    "terminal.attach GET /v1/terminals/ws viewer",
    "sessions.watch GET /v1/events viewer",
    "shell.create POST /v1/shells operator",
    "shell.list GET /v1/shells viewer",
    "shell.get GET /v1/shells/:shell_id viewer",
    "shell.close DELETE /v1/shells/:shell_id operator",
    "shell.run POST /v1/shells/:shell_id/run operator",
    "process.execute POST /v1/processes operator",
    "process.list GET /v1/processes viewer",
    "process.output GET /v1/processes/:process_id/output viewer",
    "process.wait POST /v1/processes/:process_id/wait viewer",
    "process.signal POST /v1/processes/:process_id/signal operator",
    "process.input POST /v1/processes/:process_id/input operator",
    "team.load POST /v1/team/load operator",
    "team.list GET /v1/teams viewer",
    "agent.create POST /v1/session/create operator",
    "agent.run POST /v1/session/run operator",
    "agent.send POST /v1/sessions/:session_id/messages operator",
    "agent.steer POST /v1/sessions/:session_id/steer operator",
    "agent.followup POST /v1/sessions/:session_id/followup operator",
    "agent.resume POST /v1/sessions/:session_id/resume operator",
    "agent.elicitation POST /v1/sessions/:session_id/elicitation operator",
    "agent.summarize POST /v1/sessions/:session_id/summarize operator",
    "agent.switch PATCH /v1/sessions/:session_id/agent operator",
    "agent.model PATCH /v1/sessions/:session_id/model operator",
    "agent.permit PATCH /v1/sessions/:session_id/permissions operator",
    "agent.tools GET /v1/sessions/:session_id/tools viewer",
    "agent.toolsets GET /v1/sessions/:session_id/toolsets viewer",
    "agent.restart_toolset POST /v1/sessions/:session_id/toolsets/:name/restart operator",
    "agent.models GET /v1/sessions/:session_id/models viewer",
    "agent.prompts GET /v1/sessions/:session_id/prompts viewer",
    "agent.prompt POST /v1/sessions/:session_id/prompts/:name operator",
    "agent.skills GET /v1/sessions/:session_id/skills viewer",
    "agent.fork POST /v1/sessions/:session_id/fork operator",
    "agent.snapshot GET /v1/sessions/:session_id/snapshot viewer",
    "agent.transcript GET /v1/sessions/:session_id/transcript viewer",
    "agent.queue GET /v1/sessions/:session_id/queue viewer",
    "agent.permissions GET /v1/sessions/:session_id/permissions viewer",
    "agent.team GET /v1/sessions/:session_id/team viewer",
    "workspace.create POST /v1/workspaces admin",
    "workspace.list GET /v1/workspaces viewer",
    "workspace.get GET /v1/workspaces/:workspace_id viewer",
    "workspace.update PATCH /v1/workspaces/:workspace_id admin",
    "workspace.delete DELETE /v1/workspaces/:workspace_id admin",
    "task.create POST /v1/tasks operator",
    "task.list GET /v1/tasks viewer",
    "task.get GET /v1/tasks/:task_id viewer",
    "task.update PATCH /v1/tasks/:task_id operator",
    "task.delete DELETE /v1/tasks/:task_id operator",
    "directory.list GET /v1/directories operator",
    "caller.get GET /v1/me viewer",
    "caller.logout POST /v1/logout viewer",
    "token.create POST /v1/tokens admin",
    "token.list GET /v1/tokens admin",
    "token.revoke DELETE /v1/tokens/:token_id admin",
    "ticket.create POST /v1/tickets viewer",
    "ticket.exchange POST /v1/tickets/exchange anyone",
    "audit.list GET /v1/audit admin",
    "server.health GET /v1/health anyone",
    "server.limits GET /v1/limits viewer",
    "server.openapi GET /v1/openapi.json anyone",
    "server.metrics GET /metrics viewer",
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
  expect(terminalClientFrameTypes).toEqual([
    "terminal.open",
    "terminal.attach",
    "terminal.data",
    "terminal.resize",
    "terminal.close",
  ]);
  expect(terminalServerFrameTypes).toEqual([
    "terminal.opened",
    "terminal.attached",
    "terminal.data",
    "terminal.gap",
    "terminal.control",
    "terminal.close",
    "terminal.exit",
    "terminal.error",
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
    input_attachments_remembered: 1024,
    terminal_size: 4096,
    exited_kept_count: 1000,
    exited_kept_bytes: 10_737_418_240,
    exited_kept_ms: 604_800_000,
  });
});
