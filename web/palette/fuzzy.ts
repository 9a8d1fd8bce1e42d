/** A stretch of a text: from, and behind its end. */
export type Span = readonly [from: number, to: number];

interface Match {
  /** Above 0; more is better. */
  readonly score: number;
  readonly spans: readonly Span[];
}

/** Of longer texts only the beginning is looked at. */
const LOOKED_AT_CHARS = 300;
const WHOLE = 100;
const SCATTERED = 60;

/** Finds one word in a text: in one piece, at best where a word begins, or its letters in order. */
export function matchWord(word: string, text: string): Match | undefined {
  const looked = text.slice(0, LOOKED_AT_CHARS).toLowerCase();
  const wanted = word.toLowerCase();
  if (wanted === "") return undefined;
  return matchPiece(wanted, looked) ?? matchScattered(wanted, looked);
}

/** The words that somebody typed, each of which must be found somewhere. */
export function splitQuery(query: string): readonly string[] {
  return query.split(/\s+/).filter((word) => word !== "");
}

/** Sorted and without overlaps, so that a text can be cut along them. */
export function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: [number, number][] = [];
  for (const [from, to] of [...spans].sort((one, other) => one[0] - other[0])) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

function matchPiece(word: string, text: string): Match | undefined {
  const first = text.indexOf(word);
  if (first === -1) return undefined;
  let at = first;
  while (at !== -1 && !isWordStart(text, at)) at = text.indexOf(word, at + 1);
  const from = at === -1 ? first : at;
  const atStart = from === 0 ? 30 : 20;
  const place = at === -1 ? 0 : atStart;
  const whole = word.length === text.length ? 40 : 0;
  return {
    score: WHOLE + place + whole - Math.min(from, 20) / 2,
    spans: [[from, from + word.length]],
  };
}

function matchScattered(word: string, text: string): Match | undefined {
  // One letter is found in a piece or not at all.
  if (word.length < 2) return undefined;
  const spans: Span[] = [];
  let starts = 0;
  let from = 0;
  for (const letter of word) {
    const at = text.indexOf(letter, from);
    if (at === -1) return undefined;
    if (isWordStart(text, at)) starts += 1;
    spans.push([at, at + letter.length]);
    from = at + letter.length;
  }
  const gaps = from - (spans[0]?.[0] ?? 0) - word.length;
  const score = SCATTERED + Math.min(4 * starts, 20) - 2 * gaps;
  return score > 0 ? { score, spans: joinSpans(spans) } : undefined;
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
}
