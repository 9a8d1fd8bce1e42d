/** The one that somebody who wrote `word` most likely meant; undefined when none is like it. */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  const text = fold(word.slice(0, WORD_CHARS));
  const others = candidates.filter((candidate) => candidate !== word);
  const scored = others.map((candidate) => {
    const other = fold(candidate);
    const isPart =
      Math.min(text.length, other.length) >= PART_CHARS &&
      (other.includes(text) || text.includes(other));
    return { candidate, score: isPart ? 1 : countEdits(text, other) };
  });
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (found, each) => (found === undefined || each.score < found.score ? each : found),
    undefined,
  );
  if (best === undefined) return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(text.length, best.candidate.length) / 3));
  // As many edits as letters would replace the whole word.
  return best.score <= allowed && best.score < text.length ? best.candidate : undefined;
}

/** A longer word is not looked at to its end. */
const WORD_CHARS = 64;
/** A shorter one is a part of too many. */
const PART_CHARS = 3;

/** `subAgents`, `sub-agents` and `SUB_AGENTS` are the same word. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** How many letters have to be put in, left out, changed or swapped with their neighbour. */
function countEdits(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= to.length; at += 1) {
      const isSame = from[row - 1] === to[at - 1];
      const isSwapped = from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
      current[at] = Math.min(
        (above[at] ?? 0) + 1,
        (current[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[at - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = above;
    above = current;
  }
  return above[to.length] ?? 0;
}
