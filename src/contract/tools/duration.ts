import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { parseDuration } from "./parse-duration.ts";

const EXPECTED = 'a duration is a number of seconds, or like "30s", "1h5m", "1d"; not negative';

/** As models say it; becomes milliseconds. */
export const ToolDuration = z
  .union([z.number(), z.string().max(limits.label_chars)], { error: EXPECTED })
  .transform((given, context) => {
    const ms = parseDuration(given);
    if (ms !== undefined) return ms;
    context.issues.push({ code: "custom", input: given, message: EXPECTED });
    return z.NEVER;
  });
