import type { ApprovalDecision } from "#contract/agent/events.ts";
import { Fault } from "#contract/fault.ts";
import { type FieldValue, type FormField, parseField } from "./form.ts";

export type AnswerPlan =
  | { readonly kind: "show" }
  | { readonly kind: "decline" }
  | {
      readonly kind: "decide";
      readonly decision: ApprovalDecision;
      readonly reason: string | undefined;
    }
  /** For a question with one field. */
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "fill"; readonly fields: ReadonlyMap<string, string> };

const decisions: Readonly<Record<string, ApprovalDecision>> = {
  approve: "approve",
  "approve-tool": "approve_tool",
  "approve-session": "approve_session",
  reject: "reject",
};

/** What somebody answers, before it is known what was asked. */
export function parseAnswer(
  words: readonly string[],
  options: { readonly reason?: string | undefined; readonly decline?: boolean | undefined },
): AnswerPlan {
  const [word = "", ...rest] = words;
  const decision = Object.hasOwn(decisions, word) ? decisions[word] : undefined;
  // A blank reason is none.
  const reason = options.reason?.trim() === "" ? undefined : options.reason?.trim();
  if (options.reason !== undefined && decision !== "reject")
    throw refuse("--reason is for reject: reins answer reject --reason TEXT");
  if (options.decline === true) {
    if (words.length > 0) throw refuse(`--decline answers alone; leave ${quote(word)} away`);
    return { kind: "decline" };
  }
  if (words.length === 0) return { kind: "show" };
  if (decision === undefined && rest.length === 0 && !word.includes("="))
    return { kind: "value", value: word };
  if (decision === undefined) return { kind: "fill", fields: parseFields(words) };
  if (rest.length > 0) throw refuse(`there is no use for ${quote(rest[0])} behind ${word}`);
  return { kind: "decide", decision, reason };
}

function parseFields(words: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const word of words) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || value === undefined)
      throw refuse(
        `${quote(word)} is neither ${Object.keys(decisions).join(", ")} nor FIELD=VALUE`,
      );
    if (fields.has(name)) throw refuse(`${quote(name)} is filled in twice`);
    fields.set(name, value);
  }
  return fields;
}

/** The value of the only field that there is. */
export function fillOnlyField(
  form: readonly FormField[],
  value: string,
): Record<string, FieldValue> {
  const [only, ...others] = form;
  if (only !== undefined && others.length === 0)
    return fillForm(form, new Map([[only.name, value]]));
  const names = form.map(({ name }) => `${name}=VALUE`).join(" ");
  throw refuse(
    names === ""
      ? `${quote(value)}: the question has no field; agree or refuse in the page, or use --decline`
      : `${quote(value)}: the question has several fields; answer with ${names}`,
  );
}

/** The form's values by the words that fill it in. */
export function fillForm(
  form: readonly FormField[],
  words: ReadonlyMap<string, string>,
): Record<string, FieldValue> {
  const names = form.map(({ name }) => name);
  const strange = [...words.keys()].find((name) => !names.includes(name));
  if (strange !== undefined)
    throw refuse(`there is no field ${quote(strange)}; it asks for ${names.join(", ")}`);
  const filled = form.flatMap((field): [string, FieldValue][] => {
    const word = words.get(field.name);
    const value = word === undefined ? undefined : parseField(field, word);
    if (value !== undefined) return [[field.name, value]];
    if (word !== undefined && word.trim() !== "") throw refuse(describeWrong(field, word));
    if (field.isRequired) throw refuse(`${quote(field.name)} has to be filled in`);
    return [];
  });
  return Object.fromEntries(filled);
}

function describeWrong({ name, type, choices }: FormField, word: string): string {
  const wanted = choices.length > 0 ? `one of ${choices.join(", ")}` : `a value of type ${type}`;
  return `${name}: ${quote(word)} is not ${wanted}`;
}

function quote(word: string | undefined): string {
  return JSON.stringify(word ?? "");
}

function refuse(sentence: string): Fault {
  return new Fault("invalid_request", sentence);
}
