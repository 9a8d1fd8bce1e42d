import * as z from "zod";
import { limits } from "#contract/limits.ts";

const FIELDS = 20;
const CHOICES = 50;
const TEXT_CHARS = 1000;

const about = {
  title: z.string().max(limits.title_chars).optional(),
  description: z.string().max(TEXT_CHARS).optional(),
};

const Field = z.discriminatedUnion("type", [
  z.strictObject({
    ...about,
    type: z.literal("string"),
    enum: z.array(z.string().max(limits.title_chars)).min(1).max(CHOICES).optional(),
    minLength: z.int().min(0).optional(),
    maxLength: z.int().min(0).optional(),
    default: z.string().max(TEXT_CHARS).optional(),
  }),
  z.strictObject({
    ...about,
    type: z.enum(["number", "integer"]),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  z.strictObject({ ...about, type: z.literal("boolean"), default: z.boolean().optional() }),
]);
type Field = z.infer<typeof Field>;

/** The JSON Schema of a form: named fields, each a text, a number, a yes or no, or one of some choices. */
export const FlatSchema = z
  .strictObject({
    type: z.literal("object"),
    properties: z
      .record(z.string().min(1).max(limits.label_chars), Field)
      .refine((fields) => Object.keys(fields).length > 0, "a form has at least one field")
      .refine((fields) => Object.keys(fields).length <= FIELDS, `at most ${FIELDS} fields`),
    required: z.array(z.string()).max(FIELDS).optional(),
    additionalProperties: z.literal(false).optional(),
  })
  .refine(
    ({ properties, required = [] }) => required.every((name) => Object.hasOwn(properties, name)),
    { path: ["required"], message: "it names a field that is not in properties" },
  );
export type FlatSchema = z.infer<typeof FlatSchema>;

/** What is wrong with an answer to the form, or undefined. */
export function findMismatch(
  { properties, required = [] }: FlatSchema,
  content: Readonly<Record<string, unknown>>,
): string | undefined {
  const missing = required.find((name) => !Object.hasOwn(content, name));
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) return `${name} was not asked for`;
    const wrong = findWrong(field, value);
    if (wrong !== undefined) return `${name} ${wrong}`;
  }
  return undefined;
}

function findWrong(field: Field, value: unknown): string | undefined {
  if (field.type === "boolean") return typeof value === "boolean" ? undefined : "is not a boolean";
  if (field.type === "string") return findWrongText(field, value);
  if (typeof value !== "number" || !Number.isFinite(value)) return "is not a number";
  if (field.type === "integer" && !Number.isInteger(value)) return "is not a whole number";
  if (field.minimum !== undefined && value < field.minimum) return `is less than ${field.minimum}`;
  if (field.maximum !== undefined && value > field.maximum) return `is more than ${field.maximum}`;
  return undefined;
}

function findWrongText(
  {
    enum: choices,
    minLength = 0,
    maxLength = limits.message_chars,
  }: Extract<Field, { type: "string" }>,
  value: unknown,
): string | undefined {
  if (typeof value !== "string") return "is not a text";
  if (choices !== undefined && !choices.includes(value)) return `is none of ${choices.join(", ")}`;
  if (value.length < minLength) return `is shorter than ${minLength} characters`;
  if (value.length > maxLength) return `is longer than ${maxLength} characters`;
  return undefined;
}
