import { Fault } from "#contract/fault.ts";
import { parseJson } from "#contract/parse.ts";

/**
 * What goes over the host's socket, both ways:
 *
 *   length u32 LE (of what follows) · kind u8 · body
 *
 * kind 0: a JSON object (hello, request, reply, push). kind 1: "a tail moved", the one message that comes often:
 * watch u32 LE · tail f64 LE · events tail f64 LE. kind 4: the same with the few bytes that moved it behind: channel u8 ·
 * bytes. kind 2: something typed: id u32 LE · attachment u32 LE · length u16 LE of the input's id · that id · bytes; answered
 * by kind 3: id u32 LE, or by a JSON error. kind 6: the same at a named attachment: id u32 LE · attachment u32 LE · number u32 LE ·
 * 1 at the end of the input, else 0 · length u16 LE of the input's id · that id · bytes. kind 5: an answer that holds bytes: id u32 LE · length u32 LE of the rest of the answer ·
 * that as JSON · bytes. A kind that is not known is skipped, so that both sides may grow.
 */
export const KIND_JSON = 0;
const KIND_TAIL = 1;
const KIND_INPUT = 2;
const KIND_DONE = 3;
const KIND_OUTPUT = 4;
const KIND_BYTES = 5;
const KIND_NUMBERED = 6;

/** A list of 1,000 sessions with long names fits. */
const SOCKET_FRAME_BYTES = 16 * 1024 * 1024;

const LENGTH_BYTES = 4;
/** Behind the length and the kind. */
const BODY_START = 5;
const INPUT_HEADER_BYTES = 10;
const NUMBERED_HEADER_BYTES = 15;
const TAIL_BODY_BYTES = 20;
const BYTES_HEADER_BYTES = 8;

export interface TailNotice {
  readonly watch: number;
  readonly tail: number;
  readonly events_tail: number;
}

/** What was printed last, with the tail behind it. */
export interface OutputNotice extends TailNotice {
  readonly channel: number;
  readonly bytes: Buffer;
}

export interface InputMessage {
  /** What the answer is known by. */
  readonly id: number;
  readonly attachment: number;
  readonly input_id: string | undefined;
  readonly bytes: Buffer;
}

export interface NumberedMessage extends InputMessage {
  readonly number: number;
  /** The end of the input follows the bytes. */
  readonly eof: boolean;
}

export type SocketFrame =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "tail"; readonly notice: TailNotice }
  | { readonly kind: "output"; readonly notice: OutputNotice }
  | { readonly kind: "input"; readonly input: InputMessage }
  | { readonly kind: "numbered"; readonly input: NumberedMessage }
  | { readonly kind: "done"; readonly id: number }
  | { readonly kind: "bytes"; readonly id: number; readonly result: object }
  | { readonly kind: "unknown" };

export function encodeJson(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + 1 + body.length);
  frame.writeUInt32LE(body.length + 1, 0);
  frame[LENGTH_BYTES] = KIND_JSON;
  body.copy(frame, LENGTH_BYTES + 1);
  return frame;
}

export function encodeTail(notice: TailNotice): Buffer {
  return writeTail(openFrame(KIND_TAIL, TAIL_BODY_BYTES), notice);
}

export function encodeOutput(notice: OutputNotice): Buffer {
  const { channel, bytes } = notice;
  const frame = writeTail(openFrame(KIND_OUTPUT, TAIL_BODY_BYTES + 1 + bytes.length), notice);
  frame[BODY_START + TAIL_BODY_BYTES] = channel;
  bytes.copy(frame, BODY_START + TAIL_BODY_BYTES + 1);
  return frame;
}

export function encodeInput({ id, attachment, input_id = "", bytes }: InputMessage): Buffer {
  const name = Buffer.from(input_id);
  const frame = openFrame(KIND_INPUT, INPUT_HEADER_BYTES + name.length + bytes.length);
  frame.writeUInt32LE(id, BODY_START);
  frame.writeUInt32LE(attachment, BODY_START + 4);
  frame.writeUInt16LE(name.length, BODY_START + 8);
  name.copy(frame, BODY_START + INPUT_HEADER_BYTES);
  bytes.copy(frame, BODY_START + INPUT_HEADER_BYTES + name.length);
  return frame;
}

export function encodeNumbered(message: NumberedMessage): Buffer {
  const { id, attachment, number, eof, input_id = "", bytes } = message;
  const name = Buffer.from(input_id);
  const frame = openFrame(KIND_NUMBERED, NUMBERED_HEADER_BYTES + name.length + bytes.length);
  frame.writeUInt32LE(id, BODY_START);
  frame.writeUInt32LE(attachment, BODY_START + 4);
  frame.writeUInt32LE(number, BODY_START + 8);
  frame[BODY_START + 12] = eof ? 1 : 0;
  frame.writeUInt16LE(name.length, BODY_START + 13);
  name.copy(frame, BODY_START + NUMBERED_HEADER_BYTES);
  bytes.copy(frame, BODY_START + NUMBERED_HEADER_BYTES + name.length);
  return frame;
}

export function encodeDone(id: number): Buffer {
  const frame = openFrame(KIND_DONE, 4);
  frame.writeUInt32LE(id, BODY_START);
  return frame;
}

/** An answer with a field `bytes`, which goes as it is. */
export function encodeBytes(
  id: number,
  { bytes, ...rest }: { readonly bytes: Uint8Array },
): Buffer {
  const head = Buffer.from(JSON.stringify(rest));
  const frame = openFrame(KIND_BYTES, BYTES_HEADER_BYTES + head.length + bytes.length);
  frame.writeUInt32LE(id, BODY_START);
  frame.writeUInt32LE(head.length, BODY_START + 4);
  head.copy(frame, BODY_START + BYTES_HEADER_BYTES);
  frame.set(bytes, BODY_START + BYTES_HEADER_BYTES + head.length);
  return frame;
}

function openFrame(kind: number, bodyBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(BODY_START + bodyBytes);
  frame.writeUInt32LE(1 + bodyBytes, 0);
  frame[LENGTH_BYTES] = kind;
  return frame;
}

function writeTail(frame: Buffer, { watch, tail, events_tail }: TailNotice): Buffer {
  frame.writeUInt32LE(watch, BODY_START);
  frame.writeDoubleLE(tail, BODY_START + 4);
  frame.writeDoubleLE(events_tail, BODY_START + 12);
  return frame;
}

/** Takes bytes as they come and gives whole frames; throws `invalid_request` on what can be none. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  *push(chunk: Buffer): Generator<SocketFrame> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (let body = this.#next(); body !== undefined; body = this.#next()) yield decode(body);
  }

  /** The beginning of a frame whose rest has not come. */
  get rest(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  #next(): Buffer | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const length = this.#peek(LENGTH_BYTES).readUInt32LE(0);
    if (length === 0 || length > SOCKET_FRAME_BYTES) {
      throw new Fault("invalid_request", `a frame of ${length} bytes is not allowed here`);
    }
    if (this.#bytes < LENGTH_BYTES + length) return undefined;
    const whole = this.#peek(this.#bytes);
    const end = LENGTH_BYTES + length;
    this.#chunks = end === whole.length ? [] : [whole.subarray(end)];
    this.#bytes -= end;
    return whole.subarray(LENGTH_BYTES, end);
  }

  /** The first bytes in one piece; joins chunks only when they are needed together. */
  #peek(count: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= count) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

/** `body` begins with the kind. */
function decode(body: Buffer): SocketFrame {
  const rest = body.subarray(1);
  switch (body[0]) {
    case KIND_JSON:
      return { kind: "json", value: parseJson(rest.toString("utf8"), "a frame") };
    case KIND_TAIL:
      if (rest.length !== TAIL_BODY_BYTES) break;
      return { kind: "tail", notice: readTail(rest) };
    case KIND_OUTPUT:
      if (rest.length <= TAIL_BODY_BYTES + 1) break;
      return { kind: "output", notice: readOutput(rest) };
    case KIND_BYTES:
      return readBytes(rest);
    case KIND_INPUT:
      return readInput(rest);
    case KIND_NUMBERED:
      return readNumbered(rest);
    case KIND_DONE:
      if (rest.length !== 4) break;
      return { kind: "done", id: rest.readUInt32LE(0) };
  }
  return { kind: "unknown" };
}

function readTail(body: Buffer): TailNotice {
  return {
    watch: body.readUInt32LE(0),
    tail: body.readDoubleLE(4),
    events_tail: body.readDoubleLE(12),
  };
}

/** A copy of the bytes: they are kept for a while, and what they came in should not be. */
function readOutput(body: Buffer): OutputNotice {
  const bytes = Buffer.from(body.subarray(TAIL_BODY_BYTES + 1));
  return { ...readTail(body), channel: body[TAIL_BODY_BYTES] ?? 0, bytes };
}

function readBytes(body: Buffer): SocketFrame {
  const headBytes = body.length < BYTES_HEADER_BYTES ? 0 : body.readUInt32LE(4);
  const start = BYTES_HEADER_BYTES + headBytes;
  if (body.length < start)
    throw new Fault("invalid_request", "a frame of bytes is shorter than it says");
  const head = parseJson(body.toString("utf8", BYTES_HEADER_BYTES, start), "a frame");
  const bytes = Buffer.from(body.subarray(start));
  return { kind: "bytes", id: body.readUInt32LE(0), result: { ...Object(head), bytes } };
}

function readInput(body: Buffer): SocketFrame {
  const { input_id, bytes } = readNamed(body, INPUT_HEADER_BYTES);
  const [id, attachment] = [body.readUInt32LE(0), body.readUInt32LE(4)];
  return { kind: "input", input: { id, attachment, input_id, bytes } };
}

function readNumbered(body: Buffer): SocketFrame {
  const { input_id, bytes } = readNamed(body, NUMBERED_HEADER_BYTES);
  const [id, attachment] = [body.readUInt32LE(0), body.readUInt32LE(4)];
  const number = body.readUInt32LE(8);
  return {
    kind: "numbered",
    input: { id, attachment, number, eof: body[12] === 1, input_id, bytes },
  };
}

/** The id of an input, whose length is the last of the header, and the bytes behind it. */
function readNamed(body: Buffer, headerBytes: number): Pick<InputMessage, "input_id" | "bytes"> {
  const nameBytes = body.length < headerBytes ? 0 : body.readUInt16LE(headerBytes - 2);
  const start = headerBytes + nameBytes;
  if (body.length < start)
    throw new Fault("invalid_request", "a frame of input is shorter than it says");
  const name = body.toString("utf8", headerBytes, start);
  return { input_id: name === "" ? undefined : name, bytes: Buffer.from(body.subarray(start)) };
}
