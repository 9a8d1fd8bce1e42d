import { findBase64 } from "#client/base64.ts";
import { channelName, type OutputChannel } from "#contract/channels.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { parseObject } from "#contract/values/parse-object.ts";

/** Output as binary frames: `channel u8 · offset u64 · bytes`. */
export const BINARY_PROTOCOL = "reins.bin.v1";

const HEADER_BYTES = 9;

export interface OutputEvent {
  readonly type: "output";
  readonly channel: OutputChannel;
  /** Of the first byte. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export type Received = OutputEvent | Exclude<ServerFrame, { readonly type: "stdout" | "stderr" }>;

/** A message of the server's; undefined when it is none that can be read. Types that are not known are for others. */
export function decodeMessage(message: unknown): Received | undefined {
  if (message instanceof ArrayBuffer) return decodeBinary(message);
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

function decodeBinary(buffer: ArrayBuffer): OutputEvent | undefined {
  if (buffer.byteLength < HEADER_BYTES) return undefined;
  const view = new DataView(buffer);
  return {
    type: "output",
    channel: channelName(view.getUint8(0)),
    offset: Number(view.getBigUint64(1)),
    bytes: new Uint8Array(buffer, HEADER_BYTES),
  };
}
