import { findBase64, toBase64 } from "#client/transport/base64.ts";
import { channelName, type OutputChannel } from "#contract/channels.ts";
import type { Fault } from "#contract/fault.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { BINARY_V2, encodeAttachmentInput, encodeInput } from "#contract/terminal/input-frame.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import type { Mark, Request } from "./outgoing.ts";

const HEADER_BYTES = 9;

export interface OutputEvent {
  readonly type: "output";
  readonly channel: OutputChannel;
  /** Of the first byte. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface Gap {
  readonly type: "gap";
  readonly from: number;
  readonly to: number;
}

export type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { readonly type: T }>;

/** `exit`, `failed` and, without `stay`, `taken_over` are the last one. */
export type AttachEvent =
  | FrameOf<"connected" | "screen" | "resized" | "control" | "closing" | "exit">
  | OutputEvent
  | Gap
  /** The connection is gone; it comes back by itself. Once, however often that is tried. */
  | { readonly type: "lost"; readonly code: number; readonly reason: string }
  | (Omit<FrameOf<"connected">, "type"> & { readonly type: "restored" })
  /** Something was refused; `id` names what was asked. */
  | { readonly type: "error"; readonly id: string | undefined; readonly fault: Fault }
  | { readonly type: "taken_over" }
  | { readonly type: "failed"; readonly fault: Fault };

export type Received = OutputEvent | Exclude<ServerFrame, { readonly type: "stdout" | "stderr" }>;

/** A message of the server's; undefined when it is none that can be read. Types that are not known are for others. */
export function decodeMessage(message: unknown): Received | undefined {
  if (message instanceof ArrayBuffer) return decodeBinary(new Uint8Array(message));
  if (message instanceof Uint8Array) return decodeBinary(message);
  if (typeof message !== "string") return undefined;
  const frame = parseObject(message);
  if (typeof frame?.type !== "string") return undefined;
  // The server made it by the schema of the contract; checking it again would need all of zod.
  const known = frame as ServerFrame;
  if (known.type !== "stdout" && known.type !== "stderr") return known;
  const { type: channel, offset, data, encoding } = known;
  const bytes = encoding === "base64" ? findBase64(data) : new TextEncoder().encode(data);
  return bytes && { type: "output", channel, offset, bytes };
}

function decodeBinary(frame: Uint8Array): OutputEvent | undefined {
  if (frame.length < HEADER_BYTES) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset);
  return {
    type: "output",
    channel: channelName(view.getUint8(0)),
    offset: Number(view.getBigUint64(1)),
    bytes: frame.subarray(HEADER_BYTES),
  };
}

/**
 * Encodes the requests of one connection. An input with a number is binary, as in `reins.bin.v3`. With `reins.bin.v2` inputs
 * are binary and numbered from 1 on each connection.
 */
export function createEncoder(
  protocol: string,
): (request: Request, mark: Mark) => string | Uint8Array<ArrayBuffer> {
  let sequence = 0;
  return (request, mark) => {
    if (mark.sequence !== undefined) return encodeNumbered(request, mark.sequence, mark);
    if (request.type !== "stdin") return JSON.stringify(request);
    const { id, bytes } = request;
    const next = sequence + 1;
    const frame = protocol === BINARY_V2 ? encodeInput({ sequence: next, id, bytes }) : undefined;
    if (frame === undefined)
      return JSON.stringify({ type: "stdin", id, data: toBase64(bytes), encoding: "base64" });
    sequence = next;
    return frame;
  };
}

/** The id is sent only where the session may know the input by it. */
function encodeNumbered(
  request: Request,
  sequence: number,
  { isNamed }: Mark,
): Uint8Array<ArrayBuffer> {
  const isOwn = request.type === "stdin" && request.isOwnId === true;
  const id = isNamed || isOwn ? request.id : "";
  const bytes = request.type === "stdin" ? request.bytes : new Uint8Array();
  return encodeAttachmentInput({ sequence, id, bytes, eof: request.type === "eof" });
}
