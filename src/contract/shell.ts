import * as z from "zod";
import { SessionId, ShellId, WorkspaceId } from "./ids.ts";
import { EndReason } from "./session-state.ts";

/** A saved bash state, not a process; each run is a command session that starts from it and saves it back. */
export const Shell = z.strictObject({
  shell_id: ShellId,
  workspace_id: WorkspaceId,
  user_id: z.string().nullable(),
  work_dir: z.string(),
  created_at: z.iso.datetime(),
  last_run_at: z.iso.datetime().nullable(),
  /** The run in flight. */
  running_session_id: SessionId.nullable(),
});
export type Shell = z.infer<typeof Shell>;

const Offset = z.int().min(0);
const output = { offset: Offset, data: z.string(), encoding: z.enum(["utf8", "base64"]) };

/** What a run says: that it has begun, all that it prints, then how it ended. */
export const ShellEvent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("run"), session_id: SessionId }),
  z.strictObject({ type: z.literal("stdout"), ...output }),
  z.strictObject({ type: z.literal("stderr"), ...output }),
  z.strictObject({ type: z.literal("gap"), from: Offset, to: Offset }),
  z.strictObject({
    type: z.literal("exit"),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    reason: EndReason,
    timed_out: z.boolean(),
    tail: Offset,
    /** False when the run ended in a way that left nothing to save: the next one starts from the state before. */
    state_saved: z.boolean(),
  }),
]);
export type ShellEvent = z.infer<typeof ShellEvent>;
