import { join } from "node:path";
import { limits } from "#contract/limits.ts";
import { openLogFiles } from "#log/log-files.ts";
import type { LogChunk } from "#log/log-source.ts";
import type { HostSession } from "./host-session.ts";

export interface ReadLogRequest {
  readonly log: "output" | "events";
  readonly offset: number;
  readonly limit: number;
}

/** The bytes or the gap at an offset; undefined at the tail. Throws `offset_out_of_range`. */
export function readLog(
  session: HostSession,
  { log, offset, limit }: ReadLogRequest,
): LogChunk | undefined {
  const tail = log === "output" ? session.tail : session.eventsTail;
  using files = openLogFiles(join(session.dir, log));
  return files.read(offset, { limit: Math.min(limit, limits.host_read_bytes), tail });
}
