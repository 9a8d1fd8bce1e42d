import type { CommandSpec } from "#cli/program/command-spec.ts";

/**
 * The table of commands as a shell's completion needs it. What may come next depends on the command, on how many words
 * without a dash came before and on the first of them:
 *
 *   reins token revoke ID…      →  "token 0 " offers revoke, "token 1 revoke" and so on an id
 *   reins signal ID SIGNAL      →  "signal 0 " offers sessions, "signal 1 *" signals
 */
export interface CommandGrammar {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Behind `--`, or the first word, comes a program with options of its own. */
  readonly takesProgram: boolean;
  readonly slots: readonly Slot[];
}

export interface Flag {
  readonly name: string;
  readonly meaning: string;
  /** The next word is its value. */
  readonly takesValue: boolean;
  readonly sources: readonly Source[];
}

export interface Slot {
  /** `COMMAND COUNT FIRST`, where a `*` at the end stands for anything. */
  readonly pattern: string;
  readonly sources: readonly Source[];
}

/** Where the words come from that are offered. */
export type Source =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "sessions" | "files" | "folders" | "program" };

/** Words beyond this many are looked up as the last of them: shells compare texts and not numbers. */
export const COUNTED_WORDS = 3;
const SIGNALS = ["INT", "TERM", "HUP", "QUIT", "KILL", "STOP", "CONT", "USR1", "USR2"];
const HELP = ["-h, --help", "how it is used"] as const;

export function createGrammar(commands: Readonly<Record<string, CommandSpec>>): CommandGrammar[] {
  const shown = Object.entries(commands).filter(([, spec]) => spec.hidden !== true);
  const names = [...shown.map(([name]) => name)];
  const help: CommandGrammar = {
    name: "help",
    summary: "Tell how a command is used.",
    flags: [],
    takesProgram: false,
    slots: [{ pattern: "help 0 ", sources: [{ kind: "words", words: names }] }],
  };
  return [...shown.map(([name, spec]) => describe(name, spec)), help];
}

function describe(name: string, spec: CommandSpec): CommandGrammar {
  const flags = [...spec.options, HELP].flatMap(([flag, meaning]) => parseFlag(flag, meaning));
  const { summary, takesProgram = false } = spec;
  return { name, summary, flags, takesProgram, slots: parseUsage(name, spec.usage, flags) };
}

/** `-f, --follow`, `--cwd DIR`, `--attach[=TARGET]`: one for each name. */
function parseFlag(text: string, meaning: string): Flag[] {
  const value = /(?:[ =])(.+?)\]?$/.exec(text.split(", ").at(-1) ?? "")?.[1];
  return text.split(", ").flatMap((part) => {
    const name = /^--?[\w-]+/.exec(part)?.[0];
    if (name === undefined) return [];
    const takesValue = value !== undefined && !text.includes("[=");
    const source = value === undefined ? undefined : findValueSource(name, value, meaning);
    return [{ name, meaning, takesValue, sources: source === undefined ? [] : [source] }];
  });
}

function findValueSource(name: string, value: string, meaning: string): Source | undefined {
  // An ID is a session's only for these: workspaces, users and issues have ids as well.
  if (/^--(?:to|session)$/.test(name)) return { kind: "sessions" };
  return findSource(value) ?? findChoices(meaning);
}

/** By the word that stands for it in the usage. */
function findSource(word: string): Source | undefined {
  if (/^[a-z][\w-]*(?:\|[a-z][\w-]*)*$/.test(word))
    return { kind: "words", words: word.split("|") };
  switch (word) {
    case "TARGET":
      return { kind: "sessions" };
    case "DIR":
      return { kind: "folders" };
    case "FILE":
    case "TEAM":
      return { kind: "files" };
    case "COMMAND":
      return { kind: "program" };
    case "SIGNAL":
      return { kind: "words", words: SIGNALS };
    default:
      return undefined;
  }
}

/** `viewer, operator or admin` is all that there is to choose from; for whom may stand before it with a colon. */
function findChoices(meaning: string): Source | undefined {
  const said = meaning.split(/;| \(/)[0]?.split(": ").at(-1) ?? "";
  if (!/^[a-z-]+(?:, [a-z-]+)* or [a-z-]+$/.test(said)) return undefined;
  return { kind: "words", words: said.split(/, | or /) };
}

function parseUsage(name: string, usage: string, flags: readonly Flag[]): Slot[] {
  const slots = usage
    .split(/ \| (?=reins )/)
    .map((way) => withoutFlags(way.split(" ").slice(2), flags))
    .flatMap((words) => listSlots(name, words));
  const merged = [...Map.groupBy(slots, ({ pattern }) => pattern)];
  return merged.map(([pattern, held]) => ({
    pattern,
    sources: mergeWords(held.flatMap(({ sources }) => sources)),
  }));
}

/** Of one way to use a command. */
function listSlots(name: string, words: readonly string[]): Slot[] {
  const [verb = ""] = words;
  const first = /^[a-z]/.test(verb) ? verb.split("|") : [];
  return words.flatMap((word, at) => {
    const plain = word.replace("…", "");
    // Behind a verb, ids are those of tokens, tasks and the like.
    const isSession = plain === "ID" && first.length === 0;
    const source = isSession ? ({ kind: "sessions" } as const) : findSource(plain);
    if (source === undefined) return [];
    const place = { name, at, first, isRepeated: word !== plain };
    return listPatterns(place).map((pattern) => ({ pattern, sources: [source] }));
  });
}

/** The words that have a place, without brackets, options and their values. */
function withoutFlags(words: readonly string[], flags: readonly Flag[]): string[] {
  const kept: string[] = [];
  let isValue = false;
  for (const word of words.map((each) => each.replace(/[[\]]|^\|$/g, ""))) {
    const flag = flags.find(({ name }) => name === word);
    if (!isValue && !word.startsWith("-") && word !== "options" && word !== "") kept.push(word);
    isValue = flag?.takesValue === true;
  }
  return kept;
}

interface Place {
  readonly name: string;
  readonly at: number;
  /** What the first word must be; none = anything. */
  readonly first: readonly string[];
  readonly isRepeated: boolean;
}

function listPatterns({ name, at, first, isRepeated }: Place): string[] {
  const last = isRepeated ? COUNTED_WORDS : at;
  const counts = Array.from({ length: last - at + 1 }, (_, index) => at + index);
  return counts.flatMap((count) => {
    if (count === 0) return [`${name} 0 `];
    return (first.length === 0 ? ["*"] : first).map((word) => `${name} ${count} ${word}`);
  });
}

function mergeWords(sources: readonly Source[]): Source[] {
  const words = sources.flatMap((source) => (source.kind === "words" ? source.words : []));
  const kinds = new Set(sources.map(({ kind }) => kind).filter((kind) => kind !== "words"));
  return [
    ...(words.length === 0 ? [] : [{ kind: "words" as const, words: [...new Set(words)] }]),
    ...[...kinds].map((kind) => ({ kind })),
  ];
}
