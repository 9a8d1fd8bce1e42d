interface Settled {
  /** Blocks that nothing which follows can change. */
  readonly blocks: readonly string[];
  /** What may still grow. */
  readonly rest: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * Cuts Markdown that is still being written where a block has ended for sure: before a line that begins at the margin,
 * behind an empty one, outside of a fence. Only whole lines and the first character of the last one count, so a text that
 * comes in pieces is cut in the same places as one that comes at once.
 */
export function splitSettled(text: string): Settled {
  const blocks: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let isBehindEmpty = false;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end === -1 ? text.length : end);
    if (isBehindEmpty && fence === undefined && at > start && /^\S/.test(line)) {
      blocks.push(text.slice(start, at));
      start = at;
    }
    if (end === -1) break;
    fence = nextFence(fence, line);
    isBehindEmpty = line.trim() === "";
    at = end + 1;
  }
  return { blocks, rest: text.slice(start) };
}

/** The marks of the fence that is open behind this line. */
function nextFence(open: string | undefined, line: string): string | undefined {
  const [, marks, behind = ""] = FENCE.exec(line) ?? [];
  if (marks === undefined) return open;
  if (open === undefined) return marks.startsWith("`") && behind.includes("`") ? undefined : marks;
  const closes = marks[0] === open[0] && marks.length >= open.length && behind.trim() === "";
  return closes ? undefined : open;
}
