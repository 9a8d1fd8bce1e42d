import { toPlainText } from "#app/process/view-text.ts";
import { findLastLine } from "#contract/text/plain-line.ts";
import type { LogReader } from "#session/session-host.ts";

/** From the end of the output; a line that begins before it is shown by its rest. */
const WINDOW_BYTES = 4 * 1024;
/** Bytes of a character behind its first. */
const CONTINUED = 0x80;
const CONTINUED_MASK = 0xc0;
/** What moves the cursor to another place: there a program that draws a whole screen begins to write anew. */
const MOVES = /(?:\u001b\[|\u009b)[\d;]*[HfdABEFJ]/g;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The last line that a terminal or a command has printed. No screen is drawn for it. */
export function readOutputLine(output: LogReader, tail: number): string {
  const bytes = readEnd(output, tail);
  const text = decoder.decode(bytes).replace(MOVES, "\n");
  return findLastLine(toPlainText(encoder.encode(text)));
}

function readEnd(output: LogReader, tail: number): Uint8Array {
  const from = Math.max(0, tail - WINDOW_BYTES);
  const pieces: Uint8Array[] = [];
  for (let next = from; next < tail; ) {
    const chunk = output.read(next, { limit: tail - next, tail });
    if (chunk === undefined) break;
    if (chunk.kind === "gap") {
      next = chunk.to;
      continue;
    }
    pieces.push(chunk.bytes);
    next = chunk.offset + chunk.bytes.length;
  }
  return withoutCut(Buffer.concat(pieces));
}

/** The window may begin inside of a character. */
function withoutCut(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => (byte & CONTINUED_MASK) !== CONTINUED);
  return bytes.subarray(Math.max(0, start));
}
