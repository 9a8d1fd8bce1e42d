import type { Assignment, CommandArgument, Word, WordPart } from "unbash";
import { UNKNOWN } from "./glob.ts";

/** A piece of a command line, quotes removed. */
export interface ShellText {
  /** With UNKNOWN for what only the shell will know. */
  readonly seen: string;
  /** With expansions as they are written. */
  readonly written: string;
}

export function readWord(word: Word): ShellText {
  const seen = word.parts === undefined ? word.value : readParts(word.parts);
  return { seen, written: word.value };
}

export function readParts(parts: readonly WordPart[]): string {
  return parts.map(readPart).join("");
}

export function readArgument(argument: CommandArgument): ShellText {
  return argument.type === "Word" ? readWord(argument) : readAssignment(argument);
}

export function readAssignment({ name, index, value, append, text }: Assignment): ShellText {
  const target = `${name}${index === undefined ? "" : `[${UNKNOWN}]`}${append ? "+" : ""}=`;
  if (value.type === "ArrayValue") return { seen: target + UNKNOWN, written: text };
  const word = readWord(value);
  const written = index === undefined ? target + word.written : text;
  return { seen: target + word.seen, written };
}

export function join(texts: readonly ShellText[]): ShellText {
  return {
    seen: texts.map((text) => text.seen).join(" "),
    written: texts.map((text) => text.written).join(" "),
  };
}

export function isUnknown(text: ShellText): boolean {
  return text.seen.includes(UNKNOWN);
}

function readPart(part: WordPart): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return readParts(part.parts);
    case "Glob":
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
    case "ExtendedGlob":
    case "BraceExpansion":
      return UNKNOWN;
  }
}
