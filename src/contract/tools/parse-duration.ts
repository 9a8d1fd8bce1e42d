import { limits } from "#contract/limits.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const SECONDS = /^\d+(?:\.\d+)?$/;

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

/** As one would say it: `10s`, `1h5m`, `1.5s`, `250ms`. */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const seconds = (ms % MINUTE_MS) / 1000;
  const parts = [`${days}d`, `${hours}h`, `${minutes}m`, `${seconds}s`];
  return parts.filter((part) => !part.startsWith("0") || part.startsWith("0.")).join("");
}
