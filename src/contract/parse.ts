import type { z } from "zod";
import { Fault } from "./fault.ts";

/** Of what a parser says of a text that may hold anything. */
const WHY_CHARS = 200;

/** `what` is what the fault calls it, such as "the body". */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, WHY_CHARS) : "";
    throw new Fault("invalid_request", `${what} is not JSON: ${why}`, { cause: error });
  }
}

/** Parses what came from outside; the fault names the first wrong field in a sentence. */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({
    field: issue.path.join("."),
    message: issue.message,
  }));
  const first = issues[0];
  const where = first === undefined || first.field === "" ? "" : `${first.field}: `;
  throw new Fault("invalid_request", `${where}${first?.message ?? "the request is not valid"}`, {
    details: { issues: issues.slice(0, 8) },
  });
}
