import { Fault } from "#contract/fault.ts";

const PROBLEMS_TOLD = 20;

export type Path = readonly (string | number)[];

/** Something wrong in a team file, before its place is known. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** The word that was probably meant. */
  readonly suggestion?: string | undefined;
  /** Whether the key is wrong, not what stands behind it. */
  readonly at_key?: boolean | undefined;
}

export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** The first problem is the message; the details hold all of them, up to a bound. */
export function createTeamFault(file: string, problems: readonly Problem[]): Fault {
  const sorted = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const [first] = sorted;
  if (first === undefined) throw new Error("a fault without a problem");
  const { message, ...place } = first;
  return new Fault("team_invalid", `${file}:${place.line}:${place.column}: ${message}`, {
    details: { file, ...place, problems: sorted.slice(0, PROBLEMS_TOLD) },
  });
}

/** As people write it: `agents.root.toolsets[0].type`. */
export function writePath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/** The end of it, from the last name on: `toolsets[0]`. */
export function writeName(path: Path): string {
  return writePath(path.slice(path.findLastIndex((step) => typeof step === "string")));
}

/** For the end of a sentence. */
export function askWhether(suggestion: string | undefined): string {
  return suggestion === undefined ? "" : `; did you mean \`${suggestion}\`?`;
}

/** `a, b and c`, each as code. */
export function listWords(words: readonly string[], link: "and" | "or" = "and"): string {
  const quoted = words.map((word) => `\`${word}\``);
  if (quoted.length < 2) return quoted.join("");
  return `${quoted.slice(0, -1).join(", ")} ${link} ${quoted.at(-1)}`;
}
