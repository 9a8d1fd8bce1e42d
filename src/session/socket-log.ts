import { limits } from "#contract/limits.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { LogChunk, LogSource, ReadOptions } from "#log/log-source.ts";

export interface SocketLogName {
  readonly session_id: string;
  readonly log: "output" | "events";
}

/** A log that the host reads: for a process that may not open the files. The caller disposes the client. */
export function createSocketLog(
  client: Pick<HostClient, "call">,
  { session_id, log }: SocketLogName,
): LogSource {
  const get = () => client.call("session.get", { session_id });
  return {
    tail: async () => (await get())[log === "output" ? "tail" : "events_tail"],
    // Events are never evicted.
    first: async () => (log === "output" ? (await get()).first_offset : 0),
    read: async (offset, options) => {
      const most = mostBytes(offset, options);
      if (most <= 0) return undefined;
      const read = await client.call("session.read", { session_id, log, offset, limit: most });
      if (read.kind === "end") return undefined;
      return read.kind === "gap"
        ? { ...read, to: Math.min(read.to, options.tail ?? read.to) }
        : placeBytes(read, options.into);
    },
    [Symbol.dispose]: () => undefined,
  };
}

function mostBytes(offset: number, { limit, tail = Infinity, into }: ReadOptions): number {
  return Math.min(limit, limits.host_read_bytes, tail - offset, into?.length ?? Infinity);
}

function placeBytes(
  chunk: Extract<LogChunk, { kind: "bytes" }>,
  into: Uint8Array | undefined,
): LogChunk {
  if (into === undefined) return chunk;
  into.set(chunk.bytes);
  return { ...chunk, bytes: into.subarray(0, chunk.bytes.length) };
}
