/**
 * Sub-protocols of an attached WebSocket. Both send output as binary frames, `channel u8 · offset u64 · bytes`. They differ
 * in binary input:
 *
 *   reins.bin.v1   channel u8 = 0 · offset u64 (ignored) · bytes
 *   reins.bin.v2   kind u8 = 1 · sequence u32 · id length u8 · id (UTF-8) · bytes
 *
 * Numbers are big-endian. Sequences count the inputs of one connection from 1; the id is what survives a reconnect.
 */
export const BINARY_V1 = "reins.bin.v1";
export const BINARY_V2 = "reins.bin.v2";

const KIND_INPUT = 1;
const HEADER_BYTES = 6;
/** The length of an id is one byte. A longer id goes as JSON. */
export const ID_LONGEST_BYTES = 255;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export interface NumberedInput {
  readonly sequence: number;
  /** Empty = the input is not deduplicated. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Undefined when the id is too long for a binary frame. */
export function encodeInput({
  sequence,
  id,
  bytes,
}: NumberedInput): Uint8Array<ArrayBuffer> | undefined {
  const name = encoder.encode(id);
  if (name.length > ID_LONGEST_BYTES) return undefined;
  const frame = new Uint8Array(HEADER_BYTES + name.length + bytes.length);
  frame[0] = KIND_INPUT;
  new DataView(frame.buffer).setUint32(1, sequence);
  frame[5] = name.length;
  frame.set(name, HEADER_BYTES);
  frame.set(bytes, HEADER_BYTES + name.length);
  return frame;
}

/** Undefined for anything else. The bytes are a view of the frame. */
export function decodeInput(frame: Uint8Array): NumberedInput | undefined {
  const start = HEADER_BYTES + (frame[5] ?? 0);
  if (frame[0] !== KIND_INPUT || frame.length < start) return undefined;
  const id = findText(frame.subarray(HEADER_BYTES, start));
  if (id === undefined) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset);
  return { sequence: view.getUint32(1), id, bytes: frame.subarray(start) };
}

/** Two ids that are not UTF-8 must not become the same text: then the second input would be lost. */
function findText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
