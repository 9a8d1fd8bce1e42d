import { isUtf8 } from "node:buffer";
import { channelName } from "#contract/channels.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { ShellEvent } from "#contract/shell.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";

type Bytes = Extract<LogChunk, { readonly kind: "bytes" }>;

/**
 * Chunks of the log as events of text. A character whose rest is not there yet waits for it; when other bytes come first,
 * those of the other channel or a gap, its part goes out as it is, in base64, so that offsets never overlap.
 */
export class OutputEvents {
  #rest: Bytes | undefined;

  *push(chunk: LogChunk): Generator<StreamItem<ShellEvent>> {
    const rest = this.#rest;
    this.#rest = undefined;
    const joined = rest === undefined ? chunk : join(rest, chunk);
    if (rest !== undefined && joined === undefined) yield describe(rest);
    const whole = joined ?? chunk;
    if (whole.kind === "gap") {
      yield { id: whole.to, data: { type: "gap", from: whole.from, to: whole.to } };
      return;
    }
    const cut = whole.bytes.length - unfinishedBytes(whole.bytes);
    if (cut > 0) yield describe({ ...whole, bytes: whole.bytes.subarray(0, cut) });
    if (cut < whole.bytes.length)
      this.#rest = { ...whole, offset: whole.offset + cut, bytes: whole.bytes.subarray(cut) };
  }

  /** What will never be finished. */
  *end(): Generator<StreamItem<ShellEvent>> {
    if (this.#rest !== undefined) yield describe(this.#rest);
    this.#rest = undefined;
  }
}

function join(rest: Bytes, next: LogChunk): Bytes | undefined {
  if (next.kind === "gap" || next.channel !== rest.channel || next.offset !== endOf(rest))
    return undefined;
  return { ...rest, bytes: Buffer.concat([rest.bytes, next.bytes]) };
}

function describe(chunk: Bytes): StreamItem<ShellEvent> {
  const { offset, channel } = chunk;
  const bytes = Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength);
  const encoding = isUtf8(bytes) ? "utf8" : "base64";
  const data = bytes.toString(encoding);
  return { id: endOf(chunk), data: { type: channelName(channel), offset, data, encoding } };
}

/** How many bytes at the end begin a character whose rest is not there. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0;
  }
  return 0;
}

/** By its first byte; 1 for what begins no character. */
function lengthOf(lead: number): number {
  if (lead > 0xf4) return 1;
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
