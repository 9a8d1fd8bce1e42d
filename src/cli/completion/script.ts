import { quote } from "#base/shell-quote.ts";
import type { CommandGrammar, Source } from "./grammar.ts";

/** One branch of a shell's `case`. A `*` at a pattern's end stands for anything. */
export interface Branch {
  readonly patterns: readonly string[];
  readonly action: string;
}

export const TOP_FLAGS = ["--help", "--version"];

/**
 * The ids of live sessions, without a parser of JSON. Only what looks like an id is taken, so that no title or label
 * can put a word of its own into somebody's command line.
 */
export const LIST_SESSIONS = `reins ps --json 2>/dev/null </dev/null | grep -o '"session_id":"ses_[0-9a-z]*"' | cut -d '"' -f 4`;

/** By command and option: what its value may be. */
export function valueBranches(grammar: readonly CommandGrammar[]): Branch[] {
  const rows = grammar.flatMap(({ name, flags }) =>
    flags
      .filter(({ sources }) => sources.length > 0)
      .map((flag) => [`${name} ${flag.name}`, actionOf(flag.sources)] as const),
  );
  return groupByAction(rows);
}

/** By command, count and first word: what may come next. */
export function slotBranches(grammar: readonly CommandGrammar[]): Branch[] {
  const slots = grammar.flatMap((command) => command.slots);
  const exact = slots.filter(({ pattern }) => !pattern.endsWith("*"));
  const open = slots.filter(({ pattern }) => pattern.endsWith("*"));
  return [exact, open].flatMap((each) =>
    groupByAction(each.map(({ pattern, sources }) => [pattern, actionOf(sources)] as const)),
  );
}

function groupByAction(rows: readonly (readonly [pattern: string, action: string])[]): Branch[] {
  const groups = Map.groupBy(rows, ([, action]) => action);
  return [...groups].map(([action, held]) => ({
    action,
    patterns: held.map(([pattern]) => pattern),
  }));
}

/** The same words in all three shells: each script defines these functions. */
function actionOf(sources: readonly Source[]): string {
  const calls = sources.map((source) =>
    source.kind === "words" ? `_reins_offer ${source.words.join(" ")}` : `_reins_${source.kind}`,
  );
  return calls.join("; ");
}

/** For shells whose `case` is that of sh. */
export function renderBranches(branches: readonly Branch[], indent: string): string {
  return branches
    .map(
      ({ patterns, action }) => `${indent}${patterns.map(renderPattern).join("|")}) ${action} ;;`,
    )
    .join("\n");
}

function renderPattern(pattern: string): string {
  return pattern.endsWith("*") ? `${quote(pattern.slice(0, -1))}*` : quote(pattern);
}
