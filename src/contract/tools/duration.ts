import * as z from "zod";
import { limits } from "#contract/limits.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const SECONDS = /^\d+(?:\.\d+)?$/;
const EXPECTED = 'a duration is a number of seconds, or like "30s", "1h5m", "1d"; not negative';

/** Milliseconds of `30`, `"30"` (seconds), `"30s"`, `"1h5m"`, `"1.5h"`, `"1d"`; undefined when it is none. */
export function parseDuration(given: number | string): number | undefined {
  if (typeof given === "number") return given >= 0 ? bounded(given * 1000) : undefined;
  const text = given.trim();
  if (SECONDS.test(text)) return bounded(Number(text) * 1000);
  if (!WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    sum += Number(amount) * (UNITS_MS[unit ?? ""] ?? 0);
  return bounded(sum);
}

/** Only zero is zero, which means not to wait at all. Longer than anything that is waited for is as long as that. */
function bounded(ms: number): number {
  if (ms === 0) return 0;
  return Math.min(Math.max(1, Math.round(ms)), limits.duration_ms);
}

/** As models say it; becomes milliseconds. */
export const ToolDuration = z
  .union([z.number(), z.string().max(limits.label_chars)], { error: EXPECTED })
  .transform((given, context) => {
    const ms = parseDuration(given);
    if (ms !== undefined) return ms;
    context.issues.push({ code: "custom", input: given, message: EXPECTED });
    return z.NEVER;
  });
