const CLOSE_SHARE = 0.4;
const WORD_CHARS = 64;
/** From here on the start of a word is as good as the word. */
const PREFIX_CHARS = 3;

/** The word that was probably meant; undefined when none is near. */
export function findNearest(given: string, known: readonly string[]): string | undefined {
  if (given.length > WORD_CHARS) return undefined;
  const word = fold(given);
  const [best] = known
    .filter((candidate) => candidate !== given && candidate.length <= WORD_CHARS)
    .map((candidate) => ({ candidate, edits: countEdits(word, fold(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  const most = Math.max(1, Math.floor(word.length * CLOSE_SHARE));
  if (best !== undefined && best.edits <= most && best.edits < word.length) return best.candidate;
  if (word.length < PREFIX_CHARS) return undefined;
  return known.find((candidate) => candidate !== given && fold(candidate).startsWith(word));
}

/** `subAgents`, `sub-agents` and `SUB_AGENTS` are all the same mistake. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function countEdits(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
