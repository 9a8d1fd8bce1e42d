import * as z from "zod";
import { ServerFrame } from "#contract/frames.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Session } from "#contract/session.ts";
import { SessionState } from "#contract/session-state.ts";
import { TerminalServerFrame } from "#contract/terminal-frames.ts";
import { AnyEvent } from "./agent.ts";
import { type OperationSpec, Since } from "./operation-spec.ts";
import { ScreenState, ScreenText } from "./screen.ts";

const bySession = { session_id: SessionId };
const Offset = z.int().min(0);

/** What `/output` says in its headers, and the bytes. */
export const OutputRange = z.strictObject({
  /** Of the first byte. */
  offset: Offset,
  next: Offset,
  tail: Offset,
  /** What was asked for begins in a range that is no longer kept. */
  gap: z.strictObject({ from: Offset, to: Offset }).nullable(),
  state: z.enum(["starting", "running", "exited", "lost"]),
  /** This range reaches the end of a session that cannot print any more: no byte follows `next`. */
  final: z.boolean(),
  bytes: z.instanceof(Uint8Array),
});
export type OutputRange = z.infer<typeof OutputRange>;

const WaitFor = z.enum(["exit", "output", "idle", "text", "regex", "needs_answer"]);

const WaitRequest = z
  .strictObject({
    ...bySession,
    for: WaitFor,
    /** For output, text and regex: where to look from. Absent = the first byte that is kept. */
    since: Since.optional(),
    text: z.string().min(1).max(limits.wait_pattern_chars).optional(),
    pattern: z.string().min(1).max(limits.wait_pattern_chars).optional(),
    idle_ms: z.int().min(1).max(limits.wait_longest_ms).optional(),
    timeout_ms: z.int().min(0).max(limits.wait_longest_ms),
  })
  .refine((wait) => wait.for !== "text" || wait.text !== undefined, {
    message: "say which text to wait for",
    path: ["text"],
  })
  .refine((wait) => wait.for !== "regex" || wait.pattern !== undefined, {
    message: "say which pattern to wait for",
    path: ["pattern"],
  })
  .refine((wait) => wait.for !== "idle" || wait.idle_ms !== undefined, {
    message: "say how long it has to be idle",
    path: ["idle_ms"],
  });

/** The end of a wait; that nothing matched in time is a normal answer. */
const WaitResult = z.strictObject({
  matched: z.boolean(),
  for: WaitFor,
  /** Of the first byte that matched; for others the tail. */
  offset: Offset,
  /** Behind the last byte that matched: a next wait begins here. */
  end: Offset,
  /** What matched, for text and regex. */
  text: z.string().optional(),
  tail: Offset,
  state: SessionState,
});

/** What happens to any session that the caller may see; the session is whole, so the newest event is enough. */
export const SessionsEvent = z.discriminatedUnion("type", [
  /** First, and after this nothing is missed: now is the time to list. */
  z.strictObject({ type: z.literal("ready"), at: z.iso.datetime() }),
  z.strictObject({
    type: z.enum([
      "session.opened",
      "session.state",
      "session.title",
      "session.changed",
      "session.needs_answer",
      "session.exited",
    ]),
    at: z.iso.datetime(),
    session: Session,
    /** The fields of the session that differ from those of the event before. */
    changed: z.array(z.string()).optional(),
    /** When it has changed: whether the session has needs. */
    needs_answer: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("session.removed"),
    at: z.iso.datetime(),
    session_id: SessionId,
  }),
]);
export type SessionsEvent = z.infer<typeof SessionsEvent>;

export const ExportFormat = z.enum(["asciicast", "text", "json", "markdown"]);

export const AttachQuery = z.strictObject({
  ...bySession,
  since: Since.optional(),
  role: z.enum(["viewer", "controller"]).optional(),
  takeover: z.boolean().optional(),
  encoding: z.enum(["utf8", "base64"]).optional(),
  paint: z.boolean().optional(),
});
export type AttachQuery = z.infer<typeof AttachQuery>;

export const readingOperations = {
  "session.output": {
    http: "GET /v1/sessions/:session_id/output",
    summary: "Read what a session has printed, as it is; wait_ms waits for more at the end.",
    role: "viewer",
    answers: "bytes",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      since: Since.optional(),
      limit: z.int().min(1).max(limits.output_range_bytes).optional(),
      wait_ms: z.int().min(0).max(limits.poll_longest_ms).optional(),
      channel: z.enum(["stdout", "stderr"]).optional(),
    }),
    output: OutputRange,
    faults: ["session_not_found", "offset_out_of_range", "invalid_request"],
  },
  "session.events": {
    http: "GET /v1/sessions/:session_id/events",
    summary: "Follow the events of a session; an event's id is the offset behind it.",
    role: "viewer",
    answers: "stream",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      since: Since.optional(),
      /** False: what is there, then the end. */
      follow: z.boolean().optional(),
    }),
    output: AnyEvent,
    faults: ["session_not_found", "offset_out_of_range", "invalid_request"],
  },
  "session.screen": {
    http: "GET /v1/sessions/:session_id/screen",
    summary: "See a terminal's screen as text, or as a state to paint.",
    role: "viewer",
    answers: "json",
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      format: z.enum(["text", "state"]).optional(),
      /** The screen as it was behind this offset; absent = now. */
      at: Offset.optional(),
    }),
    output: z.union([ScreenText, ScreenState]),
    faults: ["session_not_found", "offset_out_of_range", "unsupported", "busy", "too_many"],
  },
  "session.wait": {
    http: "POST /v1/sessions/:session_id/wait",
    summary: "Wait for the exit, output, silence, a text, a pattern or a question.",
    role: "viewer",
    answers: "json",
    runs: "owner",
    input: WaitRequest,
    output: WaitResult,
    faults: [
      "session_not_found",
      "offset_out_of_range",
      "invalid_request",
      "too_many",
      "unsupported",
    ],
  },
  "session.export": {
    http: "GET /v1/sessions/:session_id/export",
    summary: "Take a session along: a recording, plain text, JSON or Markdown.",
    role: "viewer",
    answers: "document",
    runs: "owner",
    input: z.strictObject({ ...bySession, format: ExportFormat.optional() }),
    output: z.string(),
    faults: ["session_not_found", "unsupported"],
  },
  "session.attach": {
    http: "GET /v1/sessions/:session_id/ws",
    summary: "Watch a session, and steer it, over a WebSocket.",
    role: "viewer",
    answers: "socket",
    runs: "owner",
    input: AttachQuery,
    output: ServerFrame,
    faults: ["session_not_found", "not_controller", "too_many", "offset_out_of_range"],
  },
  "terminal.attach": {
    http: "GET /v1/terminals/ws",
    summary: "Many terminals of tasks over one WebSocket.",
    role: "viewer",
    answers: "socket",
    runs: "gateway",
    input: z.strictObject({}),
    output: TerminalServerFrame,
    faults: ["too_many"],
  },
  "sessions.watch": {
    http: "GET /v1/events",
    summary: "Hear of every session that is opened, changes or ends.",
    role: "viewer",
    answers: "stream",
    runs: "every-host",
    input: z.strictObject({}),
    output: SessionsEvent,
    faults: [],
  },
} as const satisfies Record<string, OperationSpec>;
