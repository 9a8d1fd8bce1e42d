import { limits } from "#contract/limits.ts";

/** Control characters, line separators and characters that reverse the text around them. */
const NO_TEXT = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;
const ELLIPSIS = "…";

/** One line of plain text, short enough for a list. */
export function toPlainLine(text: string): string {
  const line = text.replace(NO_TEXT, " ").replace(/\s+/g, " ").trim();
  // Units are never fewer than characters, and most lines are short.
  if (line.length <= limits.glance_chars) return line;
  const characters = [...line];
  if (characters.length <= limits.glance_chars) return line;
  return characters.slice(0, limits.glance_chars - 1).join("") + ELLIPSIS;
}

/** The last line in the text with something in it; empty when there is none. */
export function findLastLine(text: string): string {
  for (let end = text.length; end > 0; ) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = toPlainLine(text.slice(start, end));
    if (line !== "") return line;
    end = start - 1;
  }
  return "";
}
