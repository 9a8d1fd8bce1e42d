import { limits } from "#contract/limits.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import type { LogFiles } from "#log/log-files.ts";
import type { ScreenSize } from "#screen/emulator/emulator.ts";

const NEWLINE = 0x0a;

/** The size that a terminal was opened with, which the first line of its events says. */
export function findFirstSize(events: LogFiles): ScreenSize | undefined {
  const line = firstLine(events);
  const { type, cols, rows } = parseObject(line ?? "") ?? {};
  if (type !== "session.opened" || typeof cols !== "number" || typeof rows !== "number")
    return undefined;
  return { cols, rows };
}

function firstLine(events: LogFiles): string | undefined {
  const parts: Uint8Array[] = [];
  let next = 0;
  while (next < limits.event_line_bytes) {
    const chunk = events.read(next, { limit: limits.event_line_bytes });
    if (chunk === undefined || chunk.kind === "gap") return undefined;
    const end = chunk.bytes.indexOf(NEWLINE);
    parts.push(end < 0 ? chunk.bytes : chunk.bytes.subarray(0, end));
    if (end >= 0) return Buffer.concat(parts).toString("utf8");
    next += chunk.bytes.length;
  }
  return undefined;
}
