import { Fault } from "#contract/fault.ts";

/**
 * What goes over the host's socket, both ways:
 *
 *   length u32 LE (of what follows) · kind u8 · body
 *
 * kind 0: a JSON object (hello, request, reply, push). kind 1: "a tail moved", the one message that comes often:
 * watch u32 LE · tail f64 LE · events tail f64 LE. A kind that is not known is skipped, so that both sides may grow.
 */
export const KIND_JSON = 0;
export const KIND_TAIL = 1;

/** A list of 1,000 sessions with long names fits. */
export const SOCKET_FRAME_BYTES = 16 * 1024 * 1024;

const LENGTH_BYTES = 4;
const TAIL_BODY_BYTES = 20;

export interface TailNotice {
  readonly watch: number;
  readonly tail: number;
  readonly events_tail: number;
}

export type SocketFrame =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "tail"; readonly notice: TailNotice }
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
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + 1 + TAIL_BODY_BYTES);
  frame.writeUInt32LE(1 + TAIL_BODY_BYTES, 0);
  frame[LENGTH_BYTES] = KIND_TAIL;
  frame.writeUInt32LE(notice.watch, 5);
  frame.writeDoubleLE(notice.tail, 9);
  frame.writeDoubleLE(notice.events_tail, 17);
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

function decode(body: Buffer): SocketFrame {
  if (body[0] === KIND_JSON) return { kind: "json", value: parseJson(body.subarray(1)) };
  if (body[0] === KIND_TAIL && body.length === 1 + TAIL_BODY_BYTES) {
    return {
      kind: "tail",
      notice: {
        watch: body.readUInt32LE(1),
        tail: body.readDoubleLE(5),
        events_tail: body.readDoubleLE(13),
      },
    };
  }
  return { kind: "unknown" };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new Fault("invalid_request", "a frame is not JSON", { cause: error });
  }
}
