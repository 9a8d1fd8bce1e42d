import type * as z from "zod";
import { findNearest } from "#base/nearest.ts";
import { isObject } from "#contract/values/is-object.ts";
import {
  askWhether,
  type Finding,
  listWords,
  type Path,
  writeName,
  writePath,
} from "./team-problem.ts";
import {
  choicesOf,
  createTeamSchema,
  markOf,
  propertiesOf,
  schemasAt,
  valueAt,
} from "./team-schema.ts";

type Issue = z.core.$ZodIssue;
type Schema = ReturnType<typeof createTeamSchema>;

const WORDS_LISTED = 24;
const MISSING = " is missing";
/** What a schema says that was given no words of its own. */
const ZOD_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/;

/** How a message begins that goes on from a name. */
const VERB = /^(?:must|is|has|says) /;

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** Made when the first file is refused: it takes a moment, and most files are right. */
let schemaOnce: Schema | undefined;

/** What the schema did not like, in sentences for who wrote the file. */
export function explainIssues(issues: readonly Issue[], value: unknown): Finding[] {
  schemaOnce ??= createTeamSchema();
  const schema = schemaOnce;
  const explain = (issue: Issue, base: Path): Finding[] => {
    const path = [...base, ...placeOf(issue)];
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => explainKey([...path, key], { schema, value }));
    if (issue.code === "invalid_key")
      return [{ path, at_key: true, message: `${nameOf(path)}: ${firstMessage(issue.issues)}` }];
    if (issue.code === "invalid_union" && issue.errors.length > 0) {
      const branch = issue.errors.find((held) => !held.some((inner) => isOtherKind(inner)));
      if (branch !== undefined) return branch.flatMap((inner) => explain(inner, path));
    }
    const finding = explainValue(issue, path, valueAt(value, path));
    return [{ ...finding, message: finding.message + adviseMark(schema, path, value) }];
  };
  return withoutMisspelt(issues.flatMap((issue) => explain(issue, [])));
}

/** A key that is written wrong is not missing as well. */
function withoutMisspelt(findings: readonly Finding[]): Finding[] {
  const meant = findings
    .filter((finding) => finding.at_key === true && finding.suggestion !== undefined)
    .map(({ path, suggestion = "" }) => writePath([...path.slice(0, -1), suggestion]));
  return findings.filter(
    ({ path, message }) => !(message.endsWith(MISSING) && meant.includes(writePath(path))),
  );
}

function explainKey(
  path: Path,
  { schema, value }: { readonly schema: Schema; value: unknown },
): Finding {
  const key = String(path.at(-1));
  const parent = path.slice(0, -1);
  const known = schemasAt(schema, parent, value).flatMap((held) => Object.keys(propertiesOf(held)));
  const finding = { path, at_key: true };
  const others = findOwners(schema, parent, { key, value });
  if (others !== undefined) return { ...finding, message: others };
  const suggestion = findNearest(key, known);
  if (suggestion !== undefined)
    return { ...finding, suggestion, message: `unknown key \`${key}\`${askWhether(suggestion)}` };
  const listed = known.slice(0, WORDS_LISTED).join(", ");
  return { ...finding, message: `unknown key \`${key}\`; known are ${listed}` };
}

/** Who writes `- shell` means `- type: shell`. */
function adviseMark(schema: Schema, path: Path, value: unknown): string {
  const given = valueAt(value, path);
  if (typeof given !== "string") return "";
  const mark = listChoices(schema, path, value)
    .map((choice) => markOf(choice))
    .find((found) => found?.value === given);
  return mark === undefined ? "" : `; write \`${mark.key}: ${mark.value}\``;
}

/** What a place may hold, whatever it holds now. */
function listChoices(schema: Schema, path: Path, value: unknown): readonly Schema[] {
  const place = path.at(-1);
  if (place === undefined) return [];
  return schemasAt(schema, path.slice(0, -1), value)
    .flatMap((outer) => [propertiesOf(outer)[place], outer.items, outer.additionalProperties])
    .flatMap((inner) => (isObject(inner) ? choicesOf(inner) : []));
}

/** A key that is right elsewhere: on another type of the same thing. */
function findOwners(
  schema: Schema,
  parent: Path,
  { key, value }: { readonly key: string; readonly value: unknown },
): string | undefined {
  const choices = listChoices(schema, parent, value);
  const owners = choices.filter((choice) => Object.hasOwn(propertiesOf(choice), key));
  const marks = owners.map((owner) => markOf(owner)?.value).filter((mark) => mark !== undefined);
  const mark = choices.map((choice) => markOf(choice)).find((found) => found !== undefined);
  if (marks.length === 0 || mark === undefined) return undefined;
  const own = String(valueAt(value, [...parent, mark.key]));
  return `\`${key}\` does not belong to ${mark.key} \`${own}\`, only to ${listWords(marks.map(String))}`;
}

function explainValue(issue: Issue, path: Path, given: unknown): Finding {
  const name = nameOf(path);
  const isOurs = !ZOD_MESSAGE.test(issue.message);
  if (given === undefined) {
    const goesOn = VERB.test(issue.message) ? "; it " : ": ";
    const why = isOurs ? goesOn + issue.message : "";
    return { path, message: `${name}${MISSING}${why}` };
  }
  if (isOurs) return { path, message: join(name, issue.message) };
  switch (issue.code) {
    case "invalid_type":
      return { path, message: `${name} must be ${kindOf(issue.expected)}${butIs(given)}` };
    case "invalid_value":
      return explainChoice(path, given, issue.values.map(String));
    case "invalid_union":
      return explainUnion(issue, path, given);
    case "too_small":
      return { path, message: `${name} ${tooSmall(issue)}` };
    case "too_big":
      return { path, message: `${name} ${tooBig(issue)}` };
    default:
      return { path, message: join(name, issue.message) };
  }
}

function explainUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, given: unknown): Finding {
  if (issue.errors.length === 0) {
    const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
    return explainChoice(path, given, options.map(String));
  }
  const expected = issue.errors
    .flat()
    .flatMap((inner) =>
      inner.code === "invalid_type" && inner.path.length === 0 ? [kindOf(inner.expected)] : [],
    );
  const either = [...new Set(expected)].join(" or ");
  return { path, message: `${nameOf(path)} must be ${either}${butIs(given)}` };
}

function explainChoice(path: Path, given: unknown, values: readonly string[]): Finding {
  const suggestion = typeof given === "string" ? findNearest(given, values) : undefined;
  const start = `${nameOf(path)} must be ${values.length > 1 ? "one of " : ""}${listWords(values, "or")}`;
  const message = `${start}${butIs(given)}${askWhether(suggestion)}`;
  return { path, message, suggestion };
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string") return "must not be empty";
  if (issue.origin === "array" || issue.origin === "set") return `needs ${issue.minimum} or more`;
  return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
}

function tooBig(issue: z.core.$ZodIssueTooBig): string {
  if (issue.origin === "string") return `must have at most ${issue.maximum} characters`;
  if (issue.origin === "array") return `must have at most ${issue.maximum} entries`;
  return `must be at most ${issue.maximum}`;
}

/** A message that goes on from the name, or one that stands for itself. */
function join(name: string, message: string): string {
  return VERB.test(message) ? `${name} ${message}` : `${name}: ${message}`;
}

function isOtherKind(issue: Issue): boolean {
  return issue.code === "invalid_type" && issue.path.length === 0;
}

function firstMessage(issues: readonly Issue[]): string {
  return issues[0]?.message ?? "not valid";
}

function placeOf(issue: Issue): Path {
  return issue.path.map((step) => (typeof step === "number" ? step : String(step)));
}

function nameOf(path: Path): string {
  return path.length === 0 ? "the file" : `\`${writeName(path)}\``;
}

function kindOf(expected: string): string {
  return kinds[expected] ?? expected;
}

function butIs(given: unknown): string {
  return given === null ? "; there is nothing" : `, not ${describe(given)}`;
}

function describe(given: unknown): string {
  if (typeof given === "string") return given === "" ? "an empty text" : `\`${shorten(given)}\``;
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  return Array.isArray(given) ? "a list" : "a map";
}

const SHOWN_CHARS = 40;

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}
