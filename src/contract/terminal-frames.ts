import * as z from "zod";
import { SessionId, TaskId, WorkspaceId } from "./ids.ts";
import { limits } from "./limits.ts";
import { SystemText } from "./session.ts";
import { EndReason } from "./session-state.ts";
import { UserId } from "./token.ts";

/** Many terminals on one socket: JSON text, `{type, payload}`, bytes in base64. */
const frame = <T extends string, S extends z.ZodRawShape>(type: T, payload: S) =>
  z.strictObject({ type: z.literal(type), payload: z.strictObject(payload) });

const RequestId = z.string().min(1).max(limits.input_id_chars);
/** 0 and absent are the default when opening, and what it is when resizing. */
const Size = z.int().min(0).max(limits.terminal_size);
const bySession = { session_id: SessionId };
const Offset = z.int().min(0);

export const TerminalClientFrame = z.discriminatedUnion("type", [
  frame("terminal.open", {
    request_id: RequestId,
    task_id: TaskId,
    workspace_id: WorkspaceId,
    user_id: UserId.optional(),
    cols: Size.optional(),
    rows: Size.optional(),
  }),
  frame("terminal.attach", {
    request_id: RequestId,
    ...bySession,
    since: z.union([Offset, z.literal("tail")]).optional(),
  }),
  frame("terminal.data", {
    ...bySession,
    data_b64: z.base64().max(limits.frame_bytes),
    input_id: RequestId.optional(),
  }),
  frame("terminal.resize", { ...bySession, cols: Size, rows: Size }),
  frame("terminal.close", { ...bySession, reason: SystemText.max(limits.detail_chars).optional() }),
]);
export type TerminalClientFrame = z.infer<typeof TerminalClientFrame>;

export const TerminalServerFrame = z.discriminatedUnion("type", [
  frame("terminal.opened", {
    request_id: RequestId,
    ...bySession,
    work_dir: z.string(),
    shell: z.string(),
  }),
  frame("terminal.attached", {
    request_id: RequestId,
    ...bySession,
    offset: Offset,
    tail: Offset,
    role: z.enum(["viewer", "controller"]),
  }),
  frame("terminal.data", { ...bySession, data_b64: z.string(), offset: Offset }),
  frame("terminal.gap", { ...bySession, from: Offset, to: Offset }),
  frame("terminal.control", {
    ...bySession,
    holder: z.string().nullable(),
    generation: z.int(),
  }),
  frame("terminal.close", { ...bySession, reason: z.string().optional() }),
  frame("terminal.exit", {
    ...bySession,
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    reason: EndReason,
  }),
  frame("terminal.error", {
    request_id: RequestId.optional(),
    session_id: SessionId.optional(),
    code: z.string(),
    message: z.string(),
  }),
]);
export type TerminalServerFrame = z.infer<typeof TerminalServerFrame>;

export const terminalClientFrameTypes = TerminalClientFrame.options.map(
  (option) => option.shape.type.value,
);
export const terminalServerFrameTypes = TerminalServerFrame.options.map(
  (option) => option.shape.type.value,
);
