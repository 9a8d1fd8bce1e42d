import * as z from "zod";
import { everyName } from "#contract/every-name.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { isPlainName, NOT_PLAIN } from "#contract/session.ts";

/** Exact to the byte: `original = retained + omitted`. What was omitted is read from `spool_offset` on. */
export const Truncated = z.strictObject({
  original_bytes: z.int(),
  retained_bytes: z.int(),
  omitted_bytes: z.int(),
  strategy: z.literal("head_tail"),
  /** Where in the process's output the omitted part begins. */
  spool_offset: z.int(),
});
export type Truncated = z.infer<typeof Truncated>;

/** What a model hears of a process: without an exit code it has not ended. */
export const ProcessResult = z.strictObject({
  success: z.boolean(),
  output: z.string(),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  running: z.boolean(),
  timed_out: z.boolean().optional(),
  wall_duration_ms: z.int(),
  truncated: Truncated.optional(),
  note: z.string().optional(),
  error: z.string().optional(),
  background_process_id: SessionId.optional(),
});
export type ProcessResult = z.infer<typeof ProcessResult>;

export const ProcessRead = z.strictObject({
  ...ProcessResult.shape,
  /** Of the first byte that was looked at. */
  offset: z.int(),
  /** Where the next read goes on. */
  next_offset: z.int(),
});
export type ProcessRead = z.infer<typeof ProcessRead>;

export const ProcessEntry = z.strictObject({
  process_id: SessionId,
  command: z.string(),
  workdir: z.string(),
  background: z.boolean(),
  running: z.boolean(),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  pid: z.int().nullable(),
  bytes: z.int(),
  /** Processes that belong to it besides its first. */
  descendants: z.int(),
  label: z.string().optional(),
  started_at: z.iso.datetime(),
  exited_at: z.iso.datetime().optional(),
});
export type ProcessEntry = z.infer<typeof ProcessEntry>;

export const ToolSignal = z.enum([
  "terminate",
  "kill",
  "interrupt",
  "hangup",
  "quit",
  "usr1",
  "usr2",
]);
export type ToolSignal = z.infer<typeof ToolSignal>;

export const SignalResult = z.strictObject({
  success: z.boolean(),
  message: z.string(),
  signal_used: z.string().nullable(),
});
export type SignalResult = z.infer<typeof SignalResult>;

export const ToolEnvironment = everyName(
  z.record(
    z.string().min(1).max(limits.label_chars).refine(isPlainName, NOT_PLAIN),
    z.string().max(limits.argument_bytes),
  ),
);
