import { isUtf8 } from "node:buffer";
import { unfinishedBytes } from "#base/utf8.ts";
import { channelName } from "#contract/channels.ts";
import type { SessionHandle } from "#session/session-host.ts";

type Output = SessionHandle["output"];

/** A frame that is ready to be sent, to any number of viewers who are at the same offset. */
type OutputFrame =
  | {
      readonly kind: "output";
      readonly end: number;
      readonly data: Buffer;
      readonly binary: boolean;
    }
  | { readonly kind: "gap"; readonly from: number; readonly end: number };

/** A run of bytes of one channel. */
export interface Run {
  readonly channel: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** How output looks on a socket. */
export interface FrameEncoding {
  readonly binary: boolean;
  /** Of bytes in a frame. */
  readonly limit: number;
  /** Room before the bytes in the frame's buffer. */
  readonly header: number;
  /** A character is never split: an unfinished one waits for its rest. */
  readonly wholeCharacters: boolean;
  /** `frame` is the buffer whose part behind the header are the run's bytes. */
  encode(run: Run, frame: Buffer): Buffer;
}

const BINARY_HEADER_BYTES = 9;

/** `channel u8 · offset u64 · bytes`: no byte is looked at or copied. */
export const binaryEncoding: FrameEncoding = {
  binary: true,
  limit: 256 * 1024,
  header: BINARY_HEADER_BYTES,
  wholeCharacters: false,
  encode: ({ channel, offset }, frame) => {
    frame.writeUInt8(channel, 0);
    frame.writeBigUInt64BE(BigInt(offset), 1);
    return frame;
  },
};

const TEXT_LIMIT_BYTES = 64 * 1024;

export const utf8Encoding: FrameEncoding = {
  binary: false,
  limit: TEXT_LIMIT_BYTES,
  header: 0,
  wholeCharacters: true,
  encode: (run, frame) =>
    isUtf8(frame) ? textFrame(run, frame, "utf8") : textFrame(run, frame, "base64"),
};

export const base64Encoding: FrameEncoding = {
  binary: false,
  limit: TEXT_LIMIT_BYTES,
  header: 0,
  wholeCharacters: false,
  encode: (run, frame) => textFrame(run, frame, "base64"),
};

function textFrame(run: Run, bytes: Buffer, encoding: "utf8" | "base64"): Buffer {
  const { offset } = run;
  const type = channelName(run.channel);
  return Buffer.from(JSON.stringify({ type, offset, data: bytes.toString(encoding), encoding }));
}

/** Frames that were made last, for other viewers that come to the same offset a moment later. */
const KEPT_FRAMES = 4;

interface FrameRange {
  /** Nothing at or behind it is read. */
  readonly to: number;
  /** Nothing follows `to`, so what is unfinished there will stay so. */
  readonly isEnd: boolean;
}

/** The frames of one session's output in one encoding, each made once. */
export class OutputFrames {
  readonly #handle: Pick<SessionHandle, "output" | "recent">;
  readonly #encoding: FrameEncoding;
  readonly #kept: (OutputFrame & { readonly offset: number })[] = [];
  #viewers = 0;

  constructor(handle: Pick<SessionHandle, "output" | "recent">, encoding: FrameEncoding) {
    this.#handle = handle;
    this.#encoding = encoding;
  }

  /** While somebody is in here; frames are kept only for company. */
  enter(): Disposable {
    this.#viewers += 1;
    return {
      [Symbol.dispose]: () => {
        this.#viewers -= 1;
        if (this.#viewers <= 1) this.#kept.length = 0;
      },
    };
  }

  /** The frame that begins at the cursor; undefined while only a part of a character is there. */
  at(cursor: number, range: FrameRange): OutputFrame | undefined {
    const known = this.#kept.find(({ offset, end }) => offset === cursor && end <= range.to);
    if (known !== undefined) return known;
    const made = this.#make(cursor, range);
    if (made === undefined || this.#viewers <= 1) return made;
    this.#kept.unshift({ ...made, offset: cursor });
    if (this.#kept.length > KEPT_FRAMES) this.#kept.pop();
    return made;
  }

  /** Bytes that came with the notice, mostly an echo, need not be read from the file. */
  #recall(cursor: number, into: Buffer) {
    const { recent } = this.#handle;
    if (recent === undefined || recent.offset !== cursor) return undefined;
    if (recent.bytes.length !== into.length) return undefined;
    recent.bytes.copy(into);
    return { kind: "bytes", channel: recent.channel, bytes: into } as const;
  }

  #make(cursor: number, { to, isEnd }: FrameRange): OutputFrame | undefined {
    const { header, limit, binary, wholeCharacters } = this.#encoding;
    const frame = Buffer.allocUnsafe(header + Math.min(limit, to - cursor));
    const into = frame.subarray(header);
    const chunk =
      this.#recall(cursor, into) ??
      this.#handle.output.read(cursor, { limit: into.length, tail: to, into });
    if (chunk === undefined) return undefined;
    if (chunk.kind === "gap") return { kind: "gap", from: chunk.from, end: chunk.to };
    let { length } = chunk.bytes;
    if (wholeCharacters) {
      const rest = unfinishedBytes(chunk.bytes);
      const isAll = rest === length;
      if (isAll && cursor + length === to && !isEnd) return undefined;
      if (!isAll) length -= rest;
    }
    const run = { channel: chunk.channel, offset: cursor, bytes: into.subarray(0, length) };
    const data = this.#encoding.encode(run, frame.subarray(0, header + length));
    return { kind: "output", end: cursor + length, data, binary };
  }
}

const shared = new WeakMap<Output, WeakMap<FrameEncoding, OutputFrames>>();

/** The frames that all viewers of this output share. */
export function framesOf(handle: SessionHandle, encoding: FrameEncoding): OutputFrames {
  const { output } = handle;
  const byEncoding = shared.get(output) ?? new WeakMap<FrameEncoding, OutputFrames>();
  shared.set(output, byEncoding);
  const frames = byEncoding.get(encoding) ?? new OutputFrames(handle, encoding);
  byEncoding.set(encoding, frames);
  return frames;
}
