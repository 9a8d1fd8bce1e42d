/** Kept of what a call prints while it runs. */
export const OUTPUT_CHARS = 32 * 1024;
/** Kept of a result. */
export const RESULT_CHARS = 96 * 1024;
export const REASONING_CHARS = 64 * 1024;

/** The end of a text that grows. */
export function keepTail(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(-chars).toWellFormed();
}

/** The beginning and the end of a text, and a line between them that names how much is missing. */
export function keepEnds(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  const left = text.length - 2 * half;
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head}\n[… ${left} characters are not kept here; an export has them …]\n${tail}`.toWellFormed();
}
