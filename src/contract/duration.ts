import * as z from "zod";
import { limits } from "./limits.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** Milliseconds of `30`, `"30"` (seconds), `"30s"`, `"1h5m"`, `"1.5h"`, `"1d"`; undefined when it is none. */
export function parseDuration(given: number | string): number | undefined {
  const text = String(given).trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  if (!WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    sum += Number(amount) * (UNITS_MS[unit ?? ""] ?? 0);
  return bounded(sum);
}

/** Longer than anything that is waited for is as long as that. */
function bounded(ms: number): number {
  return Math.min(Math.round(ms), limits.duration_ms);
}

/** As models say it; becomes milliseconds. */
export const ToolDuration = z
  .union([z.number(), z.string().max(limits.label_chars)])
  .transform((given, context) => {
    const ms = parseDuration(given);
    if (ms !== undefined) return ms;
    context.issues.push({
      code: "custom",
      input: given,
      message: 'a duration is a number of seconds, or like "30s", "1h5m", "1d"; not negative',
    });
    return z.NEVER;
  });
