import type { IconName } from "#web/ui/icons.tsx";
import { joinSpans, matchWord, type Span, splitQuery } from "./fuzzy.ts";

/** One line of the palette. */
export interface Choice {
  readonly id: string;
  readonly kind: "command" | "session";
  readonly title: string;
  /** Where it belongs: a group of commands, a directory. */
  readonly note: string;
  /** What it is also found by. */
  readonly words: readonly string[];
  readonly icon: IconName;
  readonly keys?: string | undefined;
  readonly isAsking: boolean;
  /** Of those that run: before all others. */
  readonly isLive: boolean;
  /** When something last happened to it, as ISO; commands have none. */
  readonly at: string;
  readonly run: () => void;
}

export interface Found {
  readonly choice: Choice;
  /** What of the title was meant. */
  readonly spans: readonly Span[];
}

export interface Section {
  readonly title: string;
  readonly found: readonly Found[];
}

interface Asked {
  readonly query: string;
  /** Ids of what was chosen last, the newest first. */
  readonly recent: readonly string[];
}

const RESULTS_MOST = 40;
const RECENT_SHOWN = 5;
const ASKING_SHOWN = 5;
const SESSIONS_SHOWN = 8;
const COMMANDS_SHOWN = 60;
const RECENT_BONUS = 15;
const ASKING_BONUS = 8;
const LIVE_BONUS = 4;

export function findChoices(choices: readonly Choice[], asked: Asked): readonly Section[] {
  const words = splitQuery(asked.query);
  if (words.length === 0) return suggest(choices, asked.recent);
  const ranked = choices.flatMap((choice) => {
    const match = matchChoice(choice, words);
    if (match === undefined) return [];
    return [{ choice, spans: match.spans, score: match.score + bonusOf(choice, asked.recent) }];
  });
  ranked.sort((one, other) => other.score - one.score || compareIds(one.choice, other.choice));
  const found = ranked.slice(0, RESULTS_MOST).map(({ choice, spans }) => ({ choice, spans }));
  return found.length === 0 ? [] : [{ title: "Best matches", found }];
}

/** Before anything is typed. */
function suggest(choices: readonly Choice[], recent: readonly string[]): readonly Section[] {
  const taken = new Set<string>();
  const take = (title: string, from: readonly Choice[], most: number): Section => {
    const found = from.filter(({ id }) => !taken.has(id)).slice(0, most);
    for (const { id } of found) taken.add(id);
    return { title, found: found.map((choice) => ({ choice, spans: [] })) };
  };
  const byId = new Map(choices.map((choice) => [choice.id, choice]));
  const known = recent.flatMap((id) => byId.get(id) ?? []);
  const sessions = choices.filter(({ kind }) => kind === "session").sort(compareSessions);
  const asking = sessions.filter(({ isAsking }) => isAsking);
  const commands = choices.filter(({ kind }) => kind === "command");
  return [
    take("Waiting for an answer", asking, ASKING_SHOWN),
    take("Recent", known, RECENT_SHOWN),
    take("Sessions", sessions, SESSIONS_SHOWN),
    take("Commands", commands, COMMANDS_SHOWN),
  ].filter(({ found }) => found.length > 0);
}

/** The title counts most; every word must be found in something. */
function matchChoice(
  { title, note, words }: Choice,
  wanted: readonly string[],
): { score: number; spans: readonly Span[] } | undefined {
  let score = 0;
  const spans: Span[] = [];
  for (const word of wanted) {
    const inTitle = matchWord(word, title);
    const elsewhere = [note, ...words].map((text) => (matchWord(word, text)?.score ?? 0) * 0.6);
    const best = Math.max(inTitle?.score ?? 0, ...elsewhere);
    if (best === 0) return undefined;
    if (inTitle !== undefined && inTitle.score === best) spans.push(...inTitle.spans);
    score += best;
  }
  return { score: score / wanted.length, spans: joinSpans(spans) };
}

function bonusOf({ id, isAsking, isLive }: Choice, recent: readonly string[]): number {
  const place = recent.indexOf(id);
  const ofRecent = place === -1 ? 0 : Math.max(1, RECENT_BONUS - place);
  return ofRecent + (isAsking ? ASKING_BONUS : 0) + (isLive ? LIVE_BONUS : 0);
}

function compareSessions(one: Choice, other: Choice): number {
  if (one.isLive !== other.isLive) return one.isLive ? -1 : 1;
  if (one.at !== other.at) return one.at < other.at ? 1 : -1;
  return compareIds(one, other);
}

function compareIds(one: Choice, other: Choice): number {
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
