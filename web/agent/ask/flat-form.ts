import { revealHidden } from "#contract/text/hidden-characters.ts";

/** A form made from the JSON Schema of a flat object. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
} & (
  | {
      readonly kind: "text";
      readonly least: number;
      readonly most: number;
      readonly pattern: string | undefined;
      readonly format: string | undefined;
    }
  | { readonly kind: "choice"; readonly options: readonly FormOption[] }
  | {
      readonly kind: "number";
      readonly isWhole: boolean;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: "switch" }
);

interface FormOption {
  readonly value: string;
  readonly label: string;
}

/** As they are typed: a switch is "true" or "". */
type FormValues = Readonly<Record<string, string>>;

const FIELDS_MOST = 50;
const OPTIONS_MOST = 200;
const TEXT_CHARS = 32 * 1024;
const PATTERN_CHARS = 500;

type Schema = Readonly<Record<string, unknown>>;

export function fieldsOf(schema: Schema): readonly FormField[] {
  const required = asArray(schema.required);
  return Object.entries(asObject(schema.properties))
    .slice(0, FIELDS_MOST)
    .map(([name, property]) => fieldOf(name, asObject(property), required.includes(name)));
}

export function firstValues(schema: Schema): FormValues {
  const values = Object.entries(asObject(schema.properties)).map(([name, property]) => {
    const { default: given } = asObject(property);
    if (typeof given === "boolean") return [name, given ? "true" : ""];
    return [name, typeof given === "string" || typeof given === "number" ? String(given) : ""];
  });
  return Object.fromEntries(values);
}

function fieldOf(name: string, property: Schema, isRequired: boolean): FormField {
  const about = {
    ...{ name, isRequired },
    label: reveal(asText(property.title) ?? name.replaceAll("_", " ")),
    hint: revealMaybe(asText(property.description)),
  };
  const options = optionsOf(property);
  if (options.length > 0) return { ...about, kind: "choice", options };
  const { type } = property;
  if (type === "boolean") return { ...about, kind: "switch" };
  if (type === "number" || type === "integer")
    return {
      ...{ ...about, kind: "number", isWhole: type === "integer" },
      least: asNumber(property.minimum) ?? Number.NEGATIVE_INFINITY,
      most: asNumber(property.maximum) ?? Number.POSITIVE_INFINITY,
    };
  return {
    ...{ ...about, kind: "text" },
    least: asNumber(property.minLength) ?? 0,
    most: Math.min(asNumber(property.maxLength) ?? TEXT_CHARS, TEXT_CHARS),
    pattern: asText(property.pattern),
    format: asText(property.format),
  };
}

/** Labels and choices are what a person decides by. */
const reveal = (text: string) => revealHidden(text, "decision");
const revealMaybe = (text: string | undefined) => (text === undefined ? undefined : reveal(text));

function optionsOf(property: Schema): readonly FormOption[] {
  const names = asArray(property.enumNames);
  const plain = asArray(property.enum).map((value, at) => ({
    value: String(value),
    label: reveal(asText(names[at]) ?? String(value)),
  }));
  const titled = asArray(property.oneOf).flatMap((option) => {
    const { const: value, title } = asObject(option);
    if (value === undefined) return [];
    return [{ value: String(value), label: reveal(asText(title) ?? String(value)) }];
  });
  return [...plain, ...titled].slice(0, OPTIONS_MOST);
}

export interface ReadForm {
  readonly content: Readonly<Record<string, string | number | boolean>>;
  /** Field → what is wrong with it. */
  readonly errors: Readonly<Record<string, string>>;
}

/** What was filled in, as the schema wants it. */
export function readForm(fields: readonly FormField[], values: FormValues): ReadForm {
  const content: Record<string, string | number | boolean> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const text = values[field.name] ?? "";
    const read = readField(field, text);
    if (read.error !== undefined) errors[field.name] = read.error;
    else if (read.value !== undefined) content[field.name] = read.value;
  }
  return { content, errors };
}

interface ReadField {
  readonly value?: string | number | boolean | undefined;
  readonly error?: string;
}

function readField(field: FormField, text: string): ReadField {
  if (field.kind !== "switch" && text.trim() === "") {
    if (field.isRequired)
      return { error: field.kind === "choice" ? "Choose one." : "This is needed." };
    return {};
  }
  switch (field.kind) {
    case "switch":
      return { value: text === "true" };
    case "choice":
      return field.options.some(({ value }) => value === text)
        ? { value: text }
        : { error: "Choose one of the answers." };
    case "number":
      return readNumber(field, text);
    case "text":
      return readText(field, text);
  }
}

function readNumber(field: Extract<FormField, { kind: "number" }>, text: string): ReadField {
  const value = Number(text.trim().replace(",", "."));
  if (!Number.isFinite(value)) return { error: "This is no number." };
  if (field.isWhole && !Number.isInteger(value)) return { error: "Give a whole number." };
  if (value < field.least) return { error: `Give ${field.least} or more.` };
  if (value > field.most) return { error: `Give ${field.most} or less.` };
  return { value };
}

function readText(field: Extract<FormField, { kind: "text" }>, text: string): ReadField {
  const { least, most, pattern } = field;
  // As JSON Schema counts: characters, not their halves.
  const chars = [...text].length;
  if (chars < least) return { error: `Give at least ${least} characters; these are ${chars}.` };
  if (chars > most) return { error: `Give at most ${most} characters; these are ${chars}.` };
  if (pattern !== undefined && !matches(pattern, text))
    return { error: `This does not fit the pattern ${pattern}` };
  return { value: text };
}

/** A pattern that cannot be read is for the server to judge. */
function matches(pattern: string, text: string): boolean {
  if (pattern.length > PATTERN_CHARS || text.length > PATTERN_CHARS) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function asObject(value: unknown): Schema {
  // Whatever it holds is looked at before it is used.
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
