/** Where to begin with what was printed: at an offset, at its end, or with its last lines. */
export type OutputStart = number | "tail" | { readonly lines: number };

/** What a session has printed, to be read from the end. */
export interface PrintedOutput {
  /** The oldest byte that is kept. */
  readonly first: number;
  readonly tail: number;
  /** What is there of `[from, to)`, in its order; what is no longer kept is left out. */
  read(from: number, to: number): AsyncIterable<PrintedPiece>;
}

interface PrintedPiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const NEWLINE = 0x0a;
/** Most lines are short: the first step back is a small one, and each that follows twice as long. */
const FIRST_STEP_BYTES = 16 * 1024;
const LONGEST_STEP_BYTES = 1024 * 1024;

export async function findStart(start: OutputStart, output: PrintedOutput): Promise<number> {
  if (typeof start === "number") return start;
  return await findLastLines(output, start === "tail" ? 0 : start.lines);
}

/** Where the last lines begin. Reads back from the end, as far as it takes; a last line without its end is one too. */
export async function findLastLines(output: PrintedOutput, count: number): Promise<number> {
  if (count === 0) return output.tail;
  let left = count;
  let step = FIRST_STEP_BYTES;
  for (let end = output.tail; end > output.first; step = Math.min(2 * step, LONGEST_STEP_BYTES)) {
    const start = Math.max(output.first, end - step);
    const starts = await findStarts(output, start, end);
    const found = starts.at(-left);
    if (found !== undefined) return found;
    left -= starts.length;
    end = start;
  }
  return output.first;
}

/** Of the lines that follow a newline in `[from, to)`. Behind the very last byte none begins. */
async function findStarts(output: PrintedOutput, from: number, to: number): Promise<number[]> {
  const starts: number[] = [];
  for await (const { offset, bytes } of output.read(from, to)) {
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      const start = offset + at + 1;
      if (start <= to && start < output.tail) starts.push(start);
    }
  }
  return starts;
}
