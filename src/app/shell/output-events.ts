import { isUtf8 } from "node:buffer";
import { unfinishedBytes } from "#base/utf8.ts";
import { channelName } from "#contract/channels.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { SessionState } from "#contract/session-state.ts";
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

/** How it ended. What has ended for nobody to see was lost with its host. */
export function describeExit(
  state: SessionState,
  { tail, state_saved }: { readonly tail: number; readonly state_saved: boolean },
): StreamItem<ShellEvent> {
  const isExited = state.kind === "exited";
  const reason = isExited || state.kind === "lost" ? state.reason : "host_lost";
  return {
    id: tail,
    data: {
      type: "exit",
      exit_code: isExited ? state.exit_code : null,
      signal: isExited ? state.signal : null,
      reason,
      timed_out: reason === "lifetime_timeout",
      tail,
      state_saved,
    },
  };
}
