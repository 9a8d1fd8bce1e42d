/** As much of a paste as is shown before it is typed. */
export const PREVIEW_CHARS = 2000;

/** A program that does not know a paste from typing runs every line of it at once. */
export function needsLook(
  text: string,
  { isBracketed }: { readonly isBracketed: boolean },
): boolean {
  return !isBracketed && countLines(text) > 1;
}

export function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length;
}

/** What would end the brackets around a paste too early, and let the rest of it pass as typed. */
export function withoutBrackets(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    after = before.replaceAll(/\x1b\[20[01]~/g, "");
  } while (after !== before);
  return after;
}
