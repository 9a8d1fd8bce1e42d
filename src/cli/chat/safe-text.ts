import { printable } from "#cli/program/printable.ts";

const TAB = "    ";

/** Text from outside as lines that a terminal shows and does not obey. Whatever is drawn has gone through here last. */
export function safeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replaceAll("\t", TAB)
    .replace(/[^\n]+/g, printable);
}

/** The same as one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, " ").trim();
}

/** The newest line that says something. */
export function lastLine(text: string): string {
  return safeLine(
    text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? "",
  );
}

export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text
    .slice(0, chars)
    .toWellFormed()
    .replace(/\uFFFD$/, "")}…`;
}
