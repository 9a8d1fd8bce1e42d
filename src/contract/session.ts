import * as z from "zod";
import { everyName } from "./every-name.ts";
import { SessionId, TaskId, WorkspaceId } from "./ids.ts";
import { limits } from "./limits.ts";
import {
  SessionNeed,
  SessionState,
  SessionStatus,
  SessionTurn,
  SessionUsage,
} from "./session-state.ts";

export const SessionKind = z.enum(["terminal", "command", "agent"]);
export type SessionKind = z.infer<typeof SessionKind>;

const noNul = (text: string) => !text.includes("\0");
const NUL_MESSAGE = "must not contain a NUL byte";

/** Text that reaches the system as it is: no NUL byte in it. */
export const SystemText = z.string().refine(noNul, NUL_MESSAGE);

export const TerminalSize = z.int().min(1).max(limits.terminal_size);
export const Duration = z.int().min(0).max(limits.duration_ms);
export const Title = SystemText.max(limits.title_chars);

const Variables = z.record(
  SystemText.min(1).refine((name) => !name.includes("="), "a variable's name has no ="),
  SystemText,
);
const isCarried = (env: Readonly<Record<string, string>>) =>
  environmentBytes(env) <= limits.environment_bytes;
const TOO_LARGE = `the environment is larger than ${limits.environment_bytes} bytes`;

/** A name that is asked for: with a line break in it, what prints an environment would show two variables. */
export const isPlainName = (name: string) => !/\p{Cc}/u.test(name);
export const NOT_PLAIN = "a variable's name has no control characters";

/** The variables that a request adds. */
export const Environment = everyName(Variables)
  .refine((env) => Object.keys(env).every(isPlainName), NOT_PLAIN)
  .refine(isCarried, TOO_LARGE);
/** What a caller has been given himself: one odd name in it must not keep all from running, and is left out. */
export const InheritedEnvironment = Variables.refine(isCarried, TOO_LARGE);

/** How people and programs call a session. `latest` and words that look like an id mean something else as a target. */
export const SessionName = z
  .string()
  .regex(/^[a-z][a-z0-9._-]{0,39}$/, "a name is a lower-case letter and up to 39 of a-z 0-9 . _ -")
  .refine((name) => name !== "latest" && !name.startsWith("ses_"), "this name is reserved");

/** Who holds control of a session: input and resize are theirs while the lease lasts. */
export const Controller = z.strictObject({
  holder: z.string(),
  generation: z.int(),
});
export type Controller = z.infer<typeof Controller>;

export const Session = z.strictObject({
  session_id: SessionId,
  kind: SessionKind,
  mode: z.enum(["pty", "pipe"]),
  state: SessionState,
  /** Unique among the live sessions of a workspace. */
  name: SessionName.nullable(),
  title: z.string(),
  /** Null when the host is older than this field: unknown. */
  status: SessionStatus.nullable(),
  needs: z.array(SessionNeed),
  /** The last line that it printed; for an agent the last thing it said, did or asks. */
  last_line: z.string(),
  turn: SessionTurn.nullable(),
  usage: SessionUsage.nullable(),
  /** Null outside a fleet. */
  host_id: z.string().nullable(),
  /** Null while its host can be reached. */
  unreachable_since: z.iso.datetime().nullable(),
  workspace_id: WorkspaceId,
  task_id: TaskId.nullable(),
  issue_id: z.string().nullable(),
  user_id: z.string().nullable(),
  parent_session_id: SessionId.nullable(),
  work_dir: z.string(),
  shell: z.string().nullable(),
  argv: z.array(z.string()),
  pid: z.int().nullable(),
  cols: z.int().nullable(),
  rows: z.int().nullable(),
  tail: z.int(),
  first_offset: z.int(),
  events_tail: z.int(),
  controller: Controller.nullable(),
  viewers: z.int(),
  created_at: z.iso.datetime(),
  last_io_at: z.iso.datetime(),
  exited_at: z.iso.datetime().nullable(),
  /** The current agent of a team, and its model. */
  agent: z.string().optional(),
  model: z.string().optional(),
  /** Of an agent: which of its workers this is, from 1 on. */
  life: z.int().optional(),
  /** The log could not keep what was printed: the range is a gap. Absent while all is well. */
  log_fault: z
    .strictObject({ code: z.string(), message: z.string(), lost_bytes: z.int() })
    .optional(),
});
export type Session = z.infer<typeof Session>;

function environmentBytes(env: Readonly<Record<string, string>>): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [name, value] of Object.entries(env))
    bytes += encoder.encode(name).length + encoder.encode(value).length + 2;
  return bytes;
}
