/**
 * A message as Markdown below a heading of an export. What people and models write is Markdown mostly, so it stays as it
 * is, except for what could end the message or look like a heading of the export:
 *
 *   # a heading             two levels deeper, where the export has none
 *   text over --- or ===    a blank line between: no underline makes a heading of it
 *   ```                     a fence that is not closed is closed, or escaped where lists make its end uncertain
 *   <tag>                   `&lt;tag>` outside of code
 */
export function writeMessageText(text: string): string {
  if (text.trim() === "") return "";
  const lines = text
    .split(/\r\n|[\r\n\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, " "));
  return `${new MessageLines(lines).write().join("\n")}\n\n`;
}

/** The export itself uses the levels 1 and 2. */
const DEEPER = "##";
const DEEPEST = 6;
/** Code within a longer line is not looked for: its `<` is escaped as well. */
const SPAN_LINE_CHARS = 10_000;
/** The end of longer code in a list is not looked for: its fence is escaped. */
const INDENTED_CODE_LINES = 1000;

interface Fence {
  readonly indent: number;
  readonly marks: string;
}

class MessageLines {
  readonly #lines: readonly string[];
  readonly #written: string[] = [];
  /** No line so far could be a fence within a list or a quote, whose end depends on that. */
  #areFencesSure = true;
  /** Each backtick of this paragraph so far has its pair on the same line. */
  #areSpansSure = true;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  write(): readonly string[] {
    for (let at = 0; at < this.#lines.length; ) at = this.#writeFrom(at);
    return this.#written;
  }

  /** Gives the line that is next. */
  #writeFrom(at: number): number {
    const line = this.#lines[at] ?? "";
    const fence = findFence(line);
    if (fence === undefined) {
      this.#writeLine(line);
      return at + 1;
    }
    const end = fence.indent === 0 ? this.#findEnd(at, fence) : this.#findIndentedEnd(at, fence);
    if (end === undefined) {
      this.#writeLine(line.replace(fence.marks, "\\$&"));
      return at + 1;
    }
    this.#writeCode(this.#lines.slice(at, end), fence);
    return end + 1;
  }

  /** A fence at the left edge is in no list and no quote: it ends at its mark, or with the message. */
  #findEnd(from: number, { marks }: Fence): number {
    for (let at = from + 1; at < this.#lines.length; at += 1) {
      const line = this.#lines[at] ?? "";
      if (closes(line, marks) && indentOf(line) <= 3) return at;
    }
    return this.#lines.length;
  }

  /** One that is indented may be within a list. Its end is certain only if all of it is indented as well. */
  #findIndentedEnd(from: number, { indent, marks }: Fence): number | undefined {
    const last = Math.min(this.#lines.length, from + INDENTED_CODE_LINES);
    for (let at = from + 1; at < last; at += 1) {
      const line = this.#lines[at] ?? "";
      if (line.trim() !== "" && indentOf(line) < indent) return undefined;
      if (closes(line, marks)) return indentOf(line) <= 3 ? at : undefined;
    }
    return undefined;
  }

  #writeCode(code: readonly string[], { indent, marks }: Fence): void {
    // Some parsers read a bracket of the line before on into the fence.
    if (indent === 0) this.#endParagraph();
    const isCode = this.#areFencesSure || indent === 0;
    for (const line of code) this.#written.push(isCode ? line : escapeTags(line));
    this.#written.push(" ".repeat(indent) + marks);
    this.#areSpansSure = true;
  }

  #writeLine(line: string): void {
    if (/`{3}|~{3}/.test(line)) this.#areFencesSure = false;
    const isUnderline = /^ {0,3}(?:=+|-+)[ \t]*$/.test(line);
    if (isUnderline) this.#endParagraph();
    if (line.trim() === "" || isUnderline) this.#areSpansSure = true;
    this.#written.push(this.#escape(deepenHeading(line)));
  }

  #endParagraph(): void {
    if ((this.#written.at(-1) ?? "").trim() !== "") this.#written.push("");
  }

  #escape(line: string): string {
    const spans = findSpans(line);
    this.#areSpansSure &&= spans !== undefined;
    if (!this.#areSpansSure || spans === undefined) return escapeTags(line);
    return spans.map((part, at) => (at % 2 === 0 ? escapeTags(part) : part)).join("");
  }
}

/** Lines that are indented further are not a fence, or one within a list, which ends with the list. */
function findFence(line: string): Fence | undefined {
  const [, indent = "", marks = ""] = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
  return marks === "" ? undefined : { indent: indent.length, marks };
}

function closes(line: string, marks: string): boolean {
  const rest = line.trim();
  return rest.length >= marks.length && rest === marks.charAt(0).repeat(rest.length);
}

/** In columns; a tab goes to the next multiple of four. */
function indentOf(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === "\t") columns += 4 - (columns % 4);
    else if (char === " ") columns += 1;
    else break;
  }
  return columns;
}

/** Also one in a list or a quote. */
function deepenHeading(line: string): string {
  return line.replace(
    /^(?! {4}|\t)((?:>|[-+*][ \t]|\d{1,9}[.)][ \t]|[ \t])*)(#{1,6})(?=[ \t]|$)/,
    (_, before: string, marks: string) => before + (marks + DEEPER).slice(0, DEEPEST),
  );
}

/** Text and code in turns, or undefined when the line alone does not tell them apart. */
function findSpans(line: string): readonly string[] | undefined {
  if (!line.includes("`")) return [line];
  if (line.length > SPAN_LINE_CHARS || /\\`|\|/.test(line)) return undefined;
  const parts: string[] = [];
  let end = 0;
  for (const { index, 0: span } of line.matchAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g)) {
    parts.push(line.slice(end, index), span);
    end = index + span.length;
  }
  parts.push(line.slice(end));
  return parts.some((part, at) => at % 2 === 0 && part.includes("`")) ? undefined : parts;
}

/** All but an address in angle brackets, which is not HTML. */
function escapeTags(text: string): string {
  return text.replaceAll(/<(?!https?:\/\/[^\s<>]*>)(?=[A-Za-z/!?])/g, "&lt;");
}
