import { isObject } from "#contract/values/is-object.ts";

type Schema = Readonly<Record<string, unknown>>;

/** One question of a form. */
export interface FormField {
  readonly name: string;
  /** What is shown to a person. */
  readonly label: string;
  readonly type: string;
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}

export type FieldValue = string | number | boolean;

/** The fields of a flat JSON Schema, in their order. */
export function listFields(schema: Schema): FormField[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) =>
    describeField(name, isObject(property) ? property : {}, required.includes(name)),
  );
}

function describeField(name: string, property: Schema, isRequired: boolean): FormField {
  const { title, description, type } = property;
  const said = [title, description].filter((text) => typeof text === "string" && text !== "");
  const choices = Array.isArray(property.enum) ? property.enum.map(String) : [];
  return {
    name,
    label: said.length === 0 ? name : said.join(": "),
    type: typeof type === "string" ? type : "string",
    choices,
    isRequired,
  };
}

/** What a line says as the value of a field; undefined when it says none. A choice may be given by its number. */
export function parseField({ type, choices }: FormField, line: string): FieldValue | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (choices.length === 0) return parseValue(type, line);
  const chosen = choices.includes(text)
    ? text
    : choices[/^\d+$/.test(text) ? Number(text) - 1 : -1];
  return chosen === undefined ? undefined : parseValue(type, chosen);
}

function parseValue(type: string, line: string): FieldValue | undefined {
  const text = line.trim();
  if (type === "boolean") return parseYes(text);
  if (type === "string") return line;
  const number = Number(text);
  if (!Number.isFinite(number) || (type === "integer" && !Number.isInteger(number)))
    return undefined;
  return number;
}

/** Yes, no, or neither. */
function parseYes(text: string): boolean | undefined {
  if (/^(y|yes|true)$/i.test(text)) return true;
  return /^(n|no|false)$/i.test(text) ? false : undefined;
}
