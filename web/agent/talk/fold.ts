/** The parts of a folded text that are shown: its beginning and its end. */
const HEAD = { lines: 24, chars: 2000 };
const TAIL = { lines: 12, chars: 1000 };
/** The longest line, and the parts that are shown of a longer one. */
const LINE_CHARS = 1000;
const LINE_HEAD_CHARS = 500;
const LINE_TAIL_CHARS = 300;

interface FoldedLine {
  readonly head: string;
  readonly hiddenChars: number;
  readonly tail: string;
}

/** A line that is too long to be read at once; undefined for every other. */
export function foldLine(text: string): FoldedLine | undefined {
  if (text.length <= LINE_CHARS) return undefined;
  const from = wholeIndex(text, LINE_HEAD_CHARS);
  const to = wholeIndex(text, text.length - LINE_TAIL_CHARS);
  return { head: text.slice(0, from), hiddenChars: to - from, tail: text.slice(to) };
}

interface FoldedLines<T> {
  readonly head: readonly T[];
  readonly hiddenLines: number;
  readonly hiddenChars: number;
  readonly tail: readonly T[];
}

/** Lines of which there are too many; undefined where all of them are shown. */
export function foldLines<T extends { readonly text: string }>(
  lines: readonly T[],
): FoldedLines<T> | undefined {
  const head = countFitting(lines, HEAD);
  if (head === lines.length) return undefined;
  const rest = lines.slice(head);
  const tail = countFitting(rest.toReversed(), TAIL);
  const hidden = rest.slice(0, rest.length - tail);
  if (hidden.length === 0) return undefined;
  return {
    head: lines.slice(0, head),
    hiddenLines: hidden.length,
    hiddenChars: hidden.reduce((sum, { text }) => sum + text.length + 1, 0),
    tail: rest.slice(rest.length - tail),
  };
}

export function isFoldable(lines: readonly { readonly text: string }[]): boolean {
  return foldLines(lines) !== undefined || lines.some(({ text }) => text.length > LINE_CHARS);
}

interface Hidden {
  readonly hiddenLines?: number;
  readonly hiddenChars: number;
}

/** `2,400 more characters`, `35 more lines (2,400 characters)` */
export function sayHidden({ hiddenLines = 0, hiddenChars }: Hidden): string {
  const chars = formatCount(hiddenChars);
  if (hiddenLines === 0) return `${chars} more characters`;
  return `${formatCount(hiddenLines)} more ${hiddenLines === 1 ? "line" : "lines"} (${chars} characters)`;
}

const formatCount = (count: number) => count.toLocaleString("en-US");

function countFitting(
  lines: readonly { readonly text: string }[],
  budget: { readonly lines: number; readonly chars: number },
): number {
  let chars = 0;
  let count = 0;
  for (const { text } of lines) {
    chars += Math.min(text.length, LINE_HEAD_CHARS + LINE_TAIL_CHARS);
    // However long it is, one line is shown.
    if (count === budget.lines || (chars > budget.chars && count > 0)) break;
    count += 1;
  }
  return count;
}

/** The beginning of a text that is longer than `most` characters, with an ellipsis. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, wholeIndex(text, most))}…`;
}

/** The same place, or one before it where that would cut a character in half. */
export function wholeIndex(text: string, index: number): number {
  const isHalf = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(index - 1, index + 1));
  return isHalf ? index - 1 : index;
}
