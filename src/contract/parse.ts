import type { z } from "zod";
import { Fault } from "./fault.ts";

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
