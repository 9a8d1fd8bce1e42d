import { isUtf8 } from "node:buffer";
import * as z from "zod";
import type { FrameEncoding, Run } from "#app/attach/output-frames.ts";
import { channelName } from "#contract/channels.ts";
import type { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { type Session, TerminalSize } from "#contract/session.ts";

const SIGNAL_CHARS = 20;

/** The frames of `/ws/session/{id}`, JSON text in both directions. */
export const ExecdClientFrame = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("stdin"), data: z.string().max(limits.frame_bytes) }),
  z.strictObject({ type: z.literal("signal"), signal: z.string().max(SIGNAL_CHARS) }),
  z.strictObject({ type: z.literal("resize"), cols: TerminalSize, rows: TerminalSize }),
  z.strictObject({ type: z.literal("ping") }),
]);
export type ExecdClientFrame = z.infer<typeof ExecdClientFrame>;

/** `replay`, `stdout` and `stderr` are made by the encoding below. */
export type ExecdServerFrame =
  | { readonly type: "replay"; readonly offset: number; readonly data: string }
  | { readonly type: "connected"; readonly session_id: string; readonly mode: Session["mode"] }
  | { readonly type: "exit"; readonly exit_code: number }
  | { readonly type: "error"; readonly error: string; readonly code: string }
  | { readonly type: "pong" };

const FRAME_BYTES = 64 * 1024;

/** What begins before `replayEnd` is history. */
export function createEncoding(replayEnd: number): FrameEncoding {
  return {
    binary: false,
    limit: FRAME_BYTES,
    header: 0,
    wholeCharacters: true,
    encode: (run, bytes) => encode(run, bytes, run.offset < replayEnd),
  };
}

/**
 * `offset` is that of the first byte, and of history the one behind the last byte: clients of that API keep it and come
 * back with it. Bytes that are not text are also there as they were: `data` alone cannot hold them.
 */
function encode({ channel, offset: first }: Run, bytes: Buffer, isReplay: boolean): Buffer {
  const type = isReplay ? "replay" : channelName(channel);
  const offset = isReplay ? first + bytes.length : first;
  const raw = isUtf8(bytes) ? {} : { data_b64: bytes.toString("base64") };
  return Buffer.from(JSON.stringify({ type, offset, data: bytes.toString("utf8"), ...raw }));
}

/** In the codes that this socket has. */
export function frameCode({ code }: Fault, type: ExecdClientFrame["type"] | undefined): string {
  if (code === "invalid_request") return "INVALID_FRAME";
  return type === "stdin" ? "STDIN_WRITE_FAILED" : "RUNTIME_ERROR";
}
