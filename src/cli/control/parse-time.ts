import { Fault } from "#contract/fault.ts";
import { parseDuration } from "#contract/tools/parse-duration.ts";

export function parseTime(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Fault(
    "invalid_request",
    `--${name}: ${JSON.stringify(text)} is no time such as 30s, 5m or 1h30m`,
  );
}
