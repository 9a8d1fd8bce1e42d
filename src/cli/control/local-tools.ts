import { openPatterns } from "#app/read/patterns.ts";
import { localPlaces } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import { describeCaller, type Local } from "#cli/context.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { parseDuration } from "#contract/tools/parse-duration.ts";
import { createProcessTools, type ProcessTools } from "#tools/process/process.ts";

/** The tools for models in this process, for the user of this machine. */
export function openLocalTools(
  { hosts }: Local,
  onStarted?: (session: Session) => void,
): ProcessTools & Disposable {
  const patterns = openPatterns();
  const tools = createProcessTools(
    {
      hosts,
      patterns,
      clock: systemClock,
      places: localPlaces,
      requireWorkdir: false,
      keepsApart: true,
      onStarted,
    },
    describeCaller(),
  );
  return { ...tools, [Symbol.dispose]: () => patterns[Symbol.dispose]() };
}

export function parseTime(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Fault(
    "invalid_request",
    `--${name}: ${JSON.stringify(text)} is no time such as 30s, 5m or 1h30m`,
  );
}
