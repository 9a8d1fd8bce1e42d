import * as z from "zod";
import { SessionId, TaskId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import {
  Duration,
  Environment,
  Session,
  SessionKind,
  SessionName,
  SystemText,
  TerminalSize,
  Title,
} from "#contract/session.ts";
import { Done, ListPage, type OperationSpec } from "./operation-spec.ts";

const InputId = z.string().min(1).max(limits.input_id_chars);
const Generation = z.int().min(0);
const bySession = { session_id: SessionId };

export const SessionCreate = z
  .strictObject({
    kind: SessionKind.refine((kind) => kind !== "agent", {
      message: "agents are made by POST /v1/session/create",
    }),
    command: SystemText.max(limits.body_bytes)
      .refine((line) => line.trim() !== "", "the command is empty")
      .optional(),
    argv: z
      .array(SystemText.max(limits.argument_bytes))
      .min(1)
      .max(limits.arguments)
      .refine((argv) => argv[0] !== "", "the program's name is empty")
      .optional(),
    work_dir: SystemText.min(1).max(limits.path_bytes).optional(),
    env: Environment.optional(),
    cols: TerminalSize.optional(),
    rows: TerminalSize.optional(),
    name: SessionName.optional(),
    title: Title.optional(),
    stdin: z.boolean().optional(),
    workspace_id: WorkspaceId.optional(),
    task_id: TaskId.optional(),
    parent_session_id: SessionId.optional(),
    detach: z.boolean().optional(),
    idle_timeout_ms: Duration.optional(),
    lifetime_ms: Duration.optional(),
    grace_ms: z.int().min(0).max(limits.grace_longest_ms).optional(),
    idempotency_key: z.string().min(1).max(limits.label_chars).optional(),
  })
  .refine((spec) => spec.command === undefined || spec.argv === undefined, {
    message: "give command or argv, not both",
    path: ["argv"],
  })
  .refine(
    (spec) => spec.kind !== "command" || spec.command !== undefined || spec.argv !== undefined,
    {
      message: "a command session needs command or argv",
      path: ["command"],
    },
  );
export type SessionCreate = z.infer<typeof SessionCreate>;

/** What a list shows of a session beside what it is. */
export const Glance = z.strictObject({
  session_id: SessionId,
  /** The last line that it printed; what an agent said or did last. One line of plain text, empty when there is none. */
  line: z.string(),
  tail: z.int(),
  last_io_at: z.iso.datetime(),
  /** Of an agent: its current one, as far as the end of its log tells. */
  agent: z.string().optional(),
  model: z.string().optional(),
  /** Of an agent: whether a turn runs, waits for an answer, or nothing is to be done. */
  activity: z.enum(["idle", "running", "waiting"]).optional(),
  needs_answer: z.boolean(),
});
export type Glance = z.infer<typeof Glance>;

export const sessionOperations = {
  "session.create": {
    http: "POST /v1/sessions",
    summary: "Start a terminal or a command.",
    role: "operator",
    answers: "json",
    runs: "owner",
    status: 201,
    input: SessionCreate,
    output: Session,
    faults: [
      "invalid_request",
      "conflict",
      "spawn_failed",
      "too_many",
      "disk_full",
      "unsupported_os",
      "session_not_found",
      "task_not_found",
      "workspace_not_found",
      "workspace_mismatch",
    ],
  },
  "session.list": {
    http: "GET /v1/sessions",
    summary: "List sessions, the newest first.",
    role: "viewer",
    answers: "json",
    runs: "every-host",
    input: z.strictObject({
      ...ListPage,
      state: z.enum(["live", "starting", "running", "exited", "lost"]).optional(),
      kind: SessionKind.optional(),
      workspace_id: WorkspaceId.optional(),
      task_id: TaskId.optional(),
      parent_session_id: SessionId.optional(),
      q: z.string().max(limits.title_chars).optional(),
    }),
    output: z.strictObject({ sessions: z.array(Session), cursor: z.string().nullable() }),
    faults: ["invalid_request"],
  },
  "session.glances": {
    http: "POST /v1/sessions/glances",
    summary:
      "What sessions did last, in a line each; those that the caller cannot see are left out.",
    role: "viewer",
    answers: "json",
    runs: "every-host",
    input: z.strictObject({ session_ids: z.array(SessionId).min(1).max(limits.glances) }),
    output: z.strictObject({ glances: z.array(Glance) }),
    faults: ["invalid_request"],
  },
  "session.get": {
    http: "GET /v1/sessions/:session_id",
    summary: "Read one session.",
    role: "viewer",
    answers: "json",
    runs: "owner",
    input: z.strictObject(bySession),
    output: Session,
    faults: ["session_not_found"],
  },
  "session.update": {
    http: "PATCH /v1/sessions/:session_id",
    summary: "Give a session another title or name; the name null takes it away.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z
      .strictObject({
        ...bySession,
        title: Title.optional(),
        name: SessionName.nullable().optional(),
      })
      .refine(
        ({ title, name }) => title !== undefined || name !== undefined,
        "give a title or a name",
      ),
    output: Session,
    faults: ["session_not_found", "invalid_request", "conflict", "unsupported"],
  },
  "session.close": {
    http: "DELETE /v1/sessions/:session_id",
    summary: "End a session and everything that it started; the first reason stays.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      reason: SystemText.max(limits.detail_chars).optional(),
      purge: z.boolean().optional(),
    }),
    output: Session,
    faults: ["session_not_found"],
  },
  "session.input": {
    http: "POST /v1/sessions/:session_id/input",
    summary: "Type into a session; an input_id among its last 1,024 is applied once.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z
      .strictObject({
        ...bySession,
        data: z.string().max(limits.input_bytes).optional(),
        data_b64: z
          .base64()
          .max(Math.ceil((limits.input_bytes * 4) / 3) + 4)
          .optional(),
        input_id: InputId.optional(),
        generation: Generation.optional(),
        takeover: z.boolean().optional(),
        eof: z.boolean().optional(),
      })
      .refine(
        (input) => input.data === undefined || input.data_b64 === undefined,
        "give data or data_b64, not both",
      ),
    output: Done,
    faults: [
      "session_not_found",
      "already_exited",
      "not_controller",
      "queue_full",
      "invalid_request",
      "unsupported",
    ],
  },
  "session.resize": {
    http: "POST /v1/sessions/:session_id/resize",
    summary: "Change the terminal's size.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      cols: TerminalSize,
      rows: TerminalSize,
      generation: Generation.optional(),
    }),
    output: Done,
    faults: ["session_not_found", "already_exited", "not_controller", "invalid_request"],
  },
  "session.signal": {
    http: "POST /v1/sessions/:session_id/signal",
    summary: "Send a signal to the foreground group or to the whole tree.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      signal: z.string().min(1).max(20),
      scope: z.enum(["foreground", "tree"]).optional(),
    }),
    output: z.strictObject({ signalled: z.int() }),
    faults: ["session_not_found", "already_exited", "invalid_request"],
  },
  "session.interrupt": {
    http: "POST /v1/sessions/:session_id/interrupt",
    summary: "Stop what runs and keep the session.",
    role: "operator",
    answers: "json",
    runs: "owner",
    input: z.strictObject(bySession),
    output: z.strictObject({ signalled: z.int() }),
    faults: ["session_not_found", "already_exited", "unsupported"],
  },
} as const satisfies Record<string, OperationSpec>;
