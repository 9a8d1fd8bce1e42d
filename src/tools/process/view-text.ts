import { characterAt } from "./view-cuts.ts";
import type { Run, Span } from "./view-read.ts";

const SAMPLE_BYTES = 8 * 1024;
/** Of a sample that may be no text before it counts as none. */
const NO_TEXT_SHARE = 0.1;
/** Bytes that a cut character leaves at an end; too few to judge by. */
const CUT_BYTES = 3;
const HEX_BYTES = 256;
const HEX_LINE_BYTES = 16;
const FIRST_PRINTABLE = 0x20;
const DEL = 0x7f;
/** What text for a terminal is made of: BEL to CR, the two shifts of a character set, ESC. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([
  ...[0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d],
  ...[0x0e, 0x0f, 0x1b],
]);

/** Judged by its beginning. */
export function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (sample.includes(0)) return true;
  let wrong = 0;
  for (let at = 0; at < sample.length; ) {
    const length = characterAt(bytes, at);
    if (length === 0 || isStrange(sample[at] ?? 0)) wrong += 1;
    at += Math.max(1, length);
  }
  return wrong > Math.max(CUT_BYTES, sample.length * NO_TEXT_SHARE);
}

interface Binary {
  readonly text: string;
  readonly shownBytes: number;
}

/** In place of what cannot be read: how much there is, and how it begins, or what is left of it. */
export function describeBinary({ start, bytes }: Run, { from, to }: Span): Binary {
  const shown = Buffer.from(bytes.subarray(0, HEX_BYTES));
  const lines: string[] = [];
  for (let at = 0; at < shown.length; at += HEX_LINE_BYTES) {
    const line = shown.subarray(at, at + HEX_LINE_BYTES).toString("hex");
    lines.push(line.replace(/..(?=.)/g, "$& "));
  }
  const some =
    start === from ? `the first ${shown.length}` : `${shown.length} from offset ${start} on`;
  const which = shown.length < to - from ? `; ${some}` : "";
  const title = `[binary output, ${to - from} bytes${which} in hexadecimal:]`;
  return { text: `${[title, ...lines].join("\n")}\n`, shownBytes: shown.length };
}

interface Omission {
  readonly bytes: number;
  readonly lost: number;
  readonly offset: number;
}

/** Stands in the text where something is missing. */
export function describeOmission({ bytes, lost, offset }: Omission): string {
  if (lost === 0) return `[... ${bytes} bytes omitted; read them from offset ${offset} ...]`;
  if (lost >= bytes) return `[... ${bytes} bytes are lost, from offset ${offset} on ...]`;
  return `[... ${bytes} bytes omitted, ${lost} of them are lost; read the others from offset ${offset} ...]`;
}

function isStrange(byte: number): boolean {
  return byte === DEL || (byte < FIRST_PRINTABLE && !TEXT_CONTROLS.has(byte));
}
