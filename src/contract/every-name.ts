import * as z from "zod";

/** zod leaves this name out of every record without a word. */
const DROPPED = "__proto__";

/** The record, but what it would drop is refused and named. */
export function everyName<S extends z.ZodRecord>(record: S): z.ZodType<z.output<S>, z.input<S>> {
  const named = z.preprocess((value, context) => {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, DROPPED))
      context.addIssue({
        code: "custom",
        message: `${DROPPED} cannot be a name here`,
        path: [DROPPED],
      });
    return value;
  }, record);
  // What it lets through is what the record takes; a preprocess alone says that it takes anything.
  return named as z.ZodType<z.output<S>, z.input<S>>;
}
