import * as z from "zod";

export const EndReason = z.enum([
  "exited",
  "user_requested",
  "idle_timeout",
  "lifetime_timeout",
  "parent_closed",
  "host_shutdown",
  "spawn_failed",
  "host_lost",
]);
export type EndReason = z.infer<typeof EndReason>;

/** Why the logs of a session are gone: it was purged, it had been kept long enough, or it never began. */
export type RemovalReason = "user_requested" | "retention" | "start_failed";

/** A process that belonged to the session and could not be ended, with why. */
export const Survivor = z.strictObject({
  pid: z.int(),
  uid: z.int(),
  command: z.string(),
  why: z.string(),
});
export type Survivor = z.infer<typeof Survivor>;

const Exited = z.strictObject({
  kind: z.literal("exited"),
  /** 128+n when a signal ended it; null when nothing ever ran. */
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  reason: EndReason,
  detail: z.string().optional(),
  /** The end of the output at the moment of the exit. */
  tail: z.int(),
  /** Nobody holds the output any more: the log will not grow. */
  final: z.boolean(),
  survivors: z.array(Survivor).optional(),
});

/** `starting` → `running` → `exited`, or `lost` when the host itself died. Only an agent may start again after that. */
export const SessionState = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("starting") }),
  z.strictObject({ kind: z.literal("running") }),
  Exited,
  z.strictObject({ kind: z.literal("lost"), reason: EndReason, detail: z.string().optional() }),
]);
export type SessionState = z.infer<typeof SessionState>;

/**
 * The activity of a session now, derived by its host. Terminals and commands are `starting`, `running` or `ended`. For agents
 * `needs_you` wins over `working` and `sleeping`; the session's `pid` tells whether a process lives.
 */
export const SessionStatus = z.enum([
  "starting",
  "running",
  "working",
  "idle",
  "needs_you",
  "sleeping",
  "ended",
]);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** A question that waits for a person. */
export const SessionNeed = z.strictObject({
  id: z.string(),
  kind: z.enum(["approval", "question", "limit"]),
  /** One line of plain text. */
  summary: z.string(),
  since: z.string(),
});
export type SessionNeed = z.infer<typeof SessionNeed>;

export const SessionTurn = z.strictObject({ turn_id: z.string(), started_at: z.string() });
export type SessionTurn = z.infer<typeof SessionTurn>;

/** Sub-agents included, but for the context, which is the current agent's. */
export const SessionUsage = z.strictObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** Null when the price of every model is unknown. */
  cost: z.number().nullable(),
  /** The price of some of it is unknown, and not part of `cost`. */
  cost_is_partial: z.boolean(),
  context_tokens: z.int(),
  context_limit: z.int().nullable(),
});
export type SessionUsage = z.infer<typeof SessionUsage>;
