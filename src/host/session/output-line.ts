import { findLastLine } from "#contract/text/plain-line.ts";
import { toPlainText } from "#contract/text/plain-text.ts";

/** The end of the output; a line that begins before it is shown by its rest. */
export const OUTPUT_LINE_BYTES = 4 * 1024;
/** Bytes of a UTF-8 character after its first. */
const CONTINUED = 0x80;
const CONTINUED_MASK = 0xc0;
/** Sequences that move the cursor: a program that draws a whole screen begins to write anew there. */
const MOVES = /(?:\u001b\[|\u009b)[\d;]*[HfdABEFJ]/g;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The last line with something in it that a terminal or a command has printed. No screen is drawn for it. */
export function findOutputLine(bytes: Uint8Array): string {
  const text = decoder.decode(withoutCut(bytes)).replace(MOVES, "\n");
  return findLastLine(toPlainText(encoder.encode(text)));
}

/** The window may begin inside a character. */
function withoutCut(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => (byte & CONTINUED_MASK) !== CONTINUED);
  return bytes.subarray(Math.max(0, start));
}

/** Holds the end of the output, so that its last line can be found without reading the log. */
export class OutputLine {
  #bytes: Buffer | undefined;
  #length = 0;
  #line: string | undefined;

  /** Undefined before the first byte. */
  get line(): string | undefined {
    if (this.#bytes === undefined) return undefined;
    this.#line ??= findOutputLine(this.#bytes.subarray(0, this.#length));
    return this.#line;
  }

  push(printed: Buffer): void {
    this.#bytes ??= Buffer.allocUnsafe(OUTPUT_LINE_BYTES);
    const bytes = printed.subarray(Math.max(0, printed.length - OUTPUT_LINE_BYTES));
    const kept = Math.min(this.#length, OUTPUT_LINE_BYTES - bytes.length);
    if (kept < this.#length) this.#bytes.copyWithin(0, this.#length - kept, this.#length);
    bytes.copy(this.#bytes, kept);
    this.#length = kept + bytes.length;
    this.#line = undefined;
  }
}
