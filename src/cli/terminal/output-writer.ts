import { once } from "node:events";
import { channelName } from "#contract/channels.ts";
import type { Session } from "#contract/session.ts";
import type { LogChunk } from "#log/log-source.ts";
import { ModeTracker } from "./mode-tracker.ts";
import { QueryFilter } from "./query-filter.ts";
import { onceAtEnd } from "./raw-mode.ts";

/** Where a session's output goes, as fast as it is taken there and no faster. */
export interface OutputWriter extends Disposable {
  write(chunk: LogChunk): Promise<void>;
  end(session: Session): Promise<void>;
}

export interface RawWriterOptions {
  /** Printed before: what asks the terminal something is left out. */
  readonly isHistory: boolean;
}

/**
 * The bytes as they are: stdout to stdout, stderr to stderr, notices to stderr. A terminal gets back the modes that
 * the program has set, when the writer is disposed of or the process ends.
 */
export function openRawWriter({ isHistory }: RawWriterOptions): OutputWriter {
  const filter = isHistory ? new QueryFilter() : undefined;
  const modes = process.stdout.isTTY ? new ModeTracker() : undefined;
  const restored = modes && onceAtEnd(() => void process.stdout.write(modes.undo()));
  return {
    async write(chunk) {
      if (chunk.kind === "gap") {
        process.stderr.write(`\n[reins: ${chunk.to - chunk.from} bytes are no longer kept]\n`);
        return;
      }
      const stream = channelName(chunk.channel) === "stderr" ? process.stderr : process.stdout;
      await writeTo(process.stdout, Buffer.from(modes?.push(chunk.bytes) ?? ""));
      await writeTo(stream, filter?.push(chunk.bytes) ?? chunk.bytes);
    },
    end: () => Promise.resolve(),
    [Symbol.dispose]: () => restored?.[Symbol.dispose](),
  };
}

/** One frame a line, as an attached client gets them. */
export function createFrameWriter(): OutputWriter {
  const print = (frame: object) =>
    writeTo(process.stdout, Buffer.from(`${JSON.stringify(frame)}\n`));
  return {
    async write(chunk) {
      if (chunk.kind === "gap") return await print({ type: "gap", from: chunk.from, to: chunk.to });
      await print({
        type: channelName(chunk.channel),
        offset: chunk.offset,
        ...encodeText(Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length)),
      });
    },
    async end({ state }) {
      if (state.kind !== "exited") return;
      const { exit_code, signal, reason, tail } = state;
      await print({ type: "exit", exit_code, signal, reason, tail });
    },
    [Symbol.dispose]: () => undefined,
  };
}

function encodeText(bytes: Buffer): {
  readonly data: string;
  readonly encoding: "utf8" | "base64";
} {
  const text = bytes.toString("utf8");
  const isExact = Buffer.from(text).equals(bytes);
  return isExact
    ? { data: text, encoding: "utf8" }
    : { data: bytes.toString("base64"), encoding: "base64" };
}

export async function writeTo(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  if (bytes.length === 0 || stream.destroyed) return;
  if (!stream.write(bytes)) await once(stream, "drain");
}
