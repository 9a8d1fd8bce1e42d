import * as z from "zod";
import { SessionId } from "./ids.ts";
import { limits } from "./limits.ts";
import { SessionKind, SystemText, TerminalSize } from "./session.ts";
import { EndReason, SessionState } from "./session-state.ts";

/**
 * The frames of an attached client, JSON text in both directions. Every frame from the server that carries
 * output has the absolute offset of its first byte; every frame from the client may carry an id that is
 * acknowledged, and a `stdin` id is applied once however often it is sent.
 */
const Encoding = z.enum(["utf8", "base64"]);
const frame = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });
const request = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  frame(type, { id: z.string().max(limits.input_id_chars).optional(), ...shape });

export const ClientFrame = z.discriminatedUnion("type", [
  request("stdin", { data: z.string().max(limits.frame_bytes), encoding: Encoding.optional() }),
  request("resize", { cols: TerminalSize, rows: TerminalSize }),
  request("signal", { signal: z.string().max(20) }),
  request("control", { action: z.enum(["take", "release"]) }),
  request("close", { reason: SystemText.max(limits.detail_chars).optional() }),
  request("eof", {}),
  request("ping", {}),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

const Offset = z.int().min(0);
/** The number of a binary input, in answers to it. */
const Sequence = z.int().min(1);
const output = { offset: Offset, data: z.string(), encoding: Encoding };

export const ServerFrame = z.discriminatedUnion("type", [
  frame("connected", {
    session_id: SessionId,
    kind: SessionKind,
    mode: z.enum(["pty", "pipe"]),
    role: z.enum(["viewer", "controller"]),
    generation: z.int().nullable(),
    offset: Offset,
    tail: Offset,
    cols: z.int().nullable(),
    rows: z.int().nullable(),
    state: SessionState,
    /** With `reins.bin.v3`: the last applied input of this attachment. Null when the session does not know the attachment. */
    applied: z.int().min(0).nullable().optional(),
  }),
  frame("screen", { state: z.string(), offset: Offset }),
  frame("stdout", output),
  frame("stderr", output),
  frame("gap", { from: Offset, to: Offset }),
  frame("resized", { cols: z.int(), rows: z.int() }),
  frame("control", { holder: z.string().nullable(), generation: z.int() }),
  frame("ack", { id: z.string(), sequence: Sequence.optional() }),
  frame("error", {
    id: z.string().optional(),
    sequence: Sequence.optional(),
    /** With `input_out_of_order`: the number that would be applied. */
    expected: Sequence.optional(),
    code: z.string(),
    message: z.string(),
  }),
  frame("exit", {
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    reason: EndReason,
    tail: Offset,
  }),
  frame("closing", { reason: z.string(), retry_after_ms: z.int() }),
  frame("pong", { id: z.string().optional() }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

export const clientFrameTypes = ClientFrame.options.map((option) => option.shape.type.value);
export const serverFrameTypes = ServerFrame.options.map((option) => option.shape.type.value);
