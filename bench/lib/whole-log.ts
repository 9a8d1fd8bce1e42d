import { createHash } from "node:crypto";
import { join } from "node:path";
import { openLogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";
import type { TempHost } from "./temp-host.ts";

export interface WholeLog {
  readonly tail: number;
  readonly sha256: string;
  /** Ranges that can no longer be read. */
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
  /** The bytes and the gaps follow each other without a hole or an overlap from 0 to the tail. */
  readonly isDense: boolean;
}

const CHUNK_BYTES = 1024 * 1024;

/** Reads everything that a session printed, as a client does; `onBytes` gets the bytes in order. */
export async function readWholeLog(
  host: TempHost,
  sessionId: string,
  onBytes: (bytes: Uint8Array) => void = () => undefined,
): Promise<WholeLog> {
  using source = openLogFiles(join(host.dir.sessions, sessionId, "output"));
  const tail = source.tail();
  const hash = createHash("sha256");
  const gaps: { from: number; to: number }[] = [];
  let next = 0;
  let isDense = true;
  for await (const chunk of readRange(source, 0, { to: tail, limit: CHUNK_BYTES })) {
    isDense &&= (chunk.kind === "gap" ? chunk.from : chunk.offset) === next;
    next = endOf(chunk);
    if (chunk.kind === "gap") {
      gaps.push({ from: chunk.from, to: chunk.to });
      continue;
    }
    hash.update(chunk.bytes);
    onBytes(chunk.bytes);
  }
  return { tail, sha256: hash.digest("hex"), gaps, isDense: isDense && next === tail };
}
