/**
 * Sub-protocols of an attached WebSocket. All send output as binary frames, `channel u8 · offset u64 · bytes`. They differ
 * in binary input:
 *
 *   reins.bin.v1   channel u8 = 0 · offset u64 (ignored) · bytes
 *   reins.bin.v2   kind u8 = 1 · sequence u32 · id length u8 · id (UTF-8) · bytes
 *   reins.bin.v3   kind u8 = 1, or 2 at the end of the input · sequence u32 · id length u16 · id (UTF-8) · bytes
 *
 * Numbers are big-endian. In v2 sequences count the inputs of one connection from 1, and the id survives a reconnect. In v3
 * they count the inputs of one attachment: the client names it by a further sub-protocol, `reins.attachment.NAME`, the same
 * on each connection.
 */
export const BINARY_V1 = "reins.bin.v1";
export const BINARY_V2 = "reins.bin.v2";
export const BINARY_V3 = "reins.bin.v3";

const ATTACHMENT = "reins.attachment.";
const NAME = /^[\w-]{1,100}$/;

const KIND_INPUT = 1;
const KIND_END = 2;
const HEADER_BYTES = 6;
const V3_HEADER_BYTES = 7;
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

export interface AttachmentInput extends NumberedInput {
  /** The end of the input follows the bytes. */
  readonly eof: boolean;
}

/** The sub-protocol that names an attachment. */
export function nameAttachment(name: string): string {
  return `${ATTACHMENT}${name}`;
}

/** The name of the attachment among the sub-protocols that a client offers. */
export function findAttachmentName(protocols: readonly string[]): string | undefined {
  const found = protocols.find((protocol) => protocol.startsWith(ATTACHMENT));
  const name = found?.slice(ATTACHMENT.length);
  return name !== undefined && NAME.test(name) ? name : undefined;
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

/** For `reins.bin.v3`. */
export function encodeAttachmentInput(input: AttachmentInput): Uint8Array<ArrayBuffer> {
  const { sequence, id, bytes, eof } = input;
  const name = encoder.encode(id);
  const frame = new Uint8Array(V3_HEADER_BYTES + name.length + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, eof ? KIND_END : KIND_INPUT);
  view.setUint32(1, sequence);
  view.setUint16(5, name.length);
  frame.set(name, V3_HEADER_BYTES);
  frame.set(bytes, V3_HEADER_BYTES + name.length);
  return frame;
}

/** Undefined for anything else. The bytes are a view of the frame. */
export function decodeAttachmentInput(frame: Uint8Array): AttachmentInput | undefined {
  if (frame.length < V3_HEADER_BYTES) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset);
  const [kind, sequence] = [view.getUint8(0), view.getUint32(1)];
  const start = V3_HEADER_BYTES + view.getUint16(5);
  const isInput = (kind === KIND_INPUT || kind === KIND_END) && sequence > 0;
  if (!isInput || frame.length < start) return undefined;
  const id = findText(frame.subarray(V3_HEADER_BYTES, start));
  if (id === undefined) return undefined;
  return { sequence, id, bytes: frame.subarray(start), eof: kind === KIND_END };
}

/** Two ids that are not UTF-8 must not become the same text: then the second input would be lost. */
function findText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
