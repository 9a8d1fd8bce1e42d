import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { parseTime } from "./parse-time.ts";

/** What somebody waits for. */
export type Wanted =
  | { readonly for: "exit" }
  | { readonly for: "needs_answer" }
  | { readonly for: "idle"; readonly idle_ms: number }
  | { readonly for: "text"; readonly text: string }
  | { readonly for: "regex"; readonly pattern: string };

export interface WaitValues {
  readonly for?: string | undefined;
  readonly text?: string | undefined;
  readonly regex?: string | undefined;
  readonly idle?: string | undefined;
  readonly timeout?: string | undefined;
}

const KINDS = ["exit", "idle", "text", "regex", "needs-answer"] as const;
type Kind = (typeof KINDS)[number];
/** How long nothing may be printed before a terminal counts as idle. */
const IDLE_MS = 2000;

/** `--text`, `--regex` and `--idle` say by themselves what is waited for. */
export function parseWanted(values: WaitValues): Wanted {
  const { text, regex } = values;
  const kind = findKind(values);
  if (kind === "exit") return { for: "exit" };
  if (kind === "needs-answer") return { for: "needs_answer" };
  if (kind === "idle") return { for: "idle", idle_ms: parseIdle(values.idle) };
  if (kind === "text") return { for: "text", text: getPattern(text, "text") };
  return { for: "regex", pattern: getPattern(regex, "regex") };
}

/** Refused before a server or a session is asked for. The engine is loaded for patterns alone. */
export async function checkPattern(source: string): Promise<void> {
  const { compileLinear, PatternProblem } = await import("#base/linear-pattern.ts");
  try {
    compileLinear(source, { multiline: true });
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    throw new Fault("invalid_request", `--regex: ${error.message}`, { cause: error });
  }
}

function findKind(values: WaitValues): Kind {
  const given = (["text", "regex", "idle"] as const).filter((name) => values[name] !== undefined);
  const named = KINDS.find((kind) => kind === values.for);
  if (values.for !== undefined && named === undefined)
    throw refuse(`--for: ${JSON.stringify(values.for)} is none of ${KINDS.join(", ")}`);
  const kind = named ?? given[0] ?? "exit";
  const other = given.find((name) => name !== kind);
  if (other !== undefined) throw refuse(`--${other} says nothing when ${kind} is waited for`);
  return kind;
}

function getPattern(text: string | undefined, name: "text" | "regex"): string {
  if (text === undefined || text === "") throw refuse(`say which: --${name} ${name.toUpperCase()}`);
  return text;
}

function parseIdle(text: string | undefined): number {
  const ms = parseTime(text, "idle") ?? IDLE_MS;
  if (ms >= 1 && ms <= limits.wait_longest_ms) return ms;
  throw refuse(`--idle: a time up to ${limits.wait_longest_ms / 1000}s`);
}

function refuse(sentence: string): Fault {
  return new Fault("invalid_request", sentence);
}
