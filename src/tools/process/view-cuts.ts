import { isUtf8 } from "node:buffer";
import { PlainText } from "#contract/text/plain-text.ts";

/** So far a cut goes out of its way for the end of a line, but never more than a quarter of its room. */
const NEAR_BYTES = 1024;
export const CHARACTER_BYTES = 4;
const REPLACEMENT_BYTES = 3;
const LF = 0x0a;
const ESC = 0x1b;
/** Of the characters U+0080 to U+00BF, and with them of the one-character forms of escapes. */
const C1_LEAD = 0xc2;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A place between two characters. */
interface Place {
  readonly at: number;
  /** Bytes of text that what stands before can become at most: what is no UTF-8 grows to U+FFFD. */
  readonly cost: number;
  /** Not inside of an escape sequence. A sequence ends with its line, whatever it lacks. */
  readonly isSafe: boolean;
}

export function costOf(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return bytes.length;
  let cost = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    cost += length === 0 ? REPLACEMENT_BYTES : length;
    at += Math.max(1, length);
  }
  return cost;
}

/** How much of a head fits; all of it, or up to a place where neither a character nor a sequence is cut. */
export function findHeadCut(bytes: Uint8Array, room: number): number {
  if (costOf(bytes) <= room) return bytes.length;
  let safe = 0;
  for (const place of places(bytes)) {
    if (place.cost > room) break;
    if (place.isSafe) safe = place.at;
  }
  const line = bytes.subarray(0, safe).lastIndexOf(LF) + 1;
  return line > 0 && safe - line <= near(room) ? line : safe;
}

/** Where a tail that fits begins, at or behind `least`; its last line, or the end of it, is always there. */
export function findTailCut(bytes: Uint8Array, room: number, least: number): number {
  const safe = findFirstCut(bytes, costOf(bytes) - room, least);
  if (safe === 0) return 0;
  const line = bytes.indexOf(LF, safe - 1) + 1;
  return line > 0 && line <= findLastLine(bytes) && line - safe <= near(room) ? line : safe;
}

function findFirstCut(bytes: Uint8Array, leastCost: number, least: number): number {
  let character: number | undefined;
  for (const { at, cost, isSafe } of places(bytes)) {
    if (at < least || cost < leastCost) continue;
    character ??= at;
    if (isSafe && at < bytes.length) return at;
  }
  // A sequence that goes on to the end: better its text than no last line.
  return character ?? bytes.length;
}

/** How many bytes at the start belong to a character or a sequence that began before. */
export function findStart(before: Uint8Array, bytes: Uint8Array): number {
  const rest = countRest(bytes);
  const line = before.subarray(before.lastIndexOf(LF) + 1);
  if (!line.includes(ESC) && !line.includes(C1_LEAD)) return rest;
  for (const { at, isSafe } of places(Buffer.concat([line, bytes])))
    if (isSafe && at >= line.length + rest && at < line.length + bytes.length)
      return at - line.length;
  return rest;
}

/** Whether well-formed UTF-8 begins there, and how long it is; 0 = it does not. */
export function characterAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lengthBy(lead);
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** As the first byte of a character has it. */
function lengthBy(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : CHARACTER_BYTES;
}

function* places(bytes: Uint8Array): Generator<Place> {
  const plain = new PlainText();
  let cost = 0;
  yield { at: 0, cost, isSafe: true };
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at];
    const length = characterAt(bytes, at);
    const end = at + Math.max(1, length);
    if (byte === LF) plain.flush();
    else if (!plain.isGround || byte === ESC || byte === C1_LEAD)
      plain.push(decoder.decode(bytes.subarray(at, end)));
    cost += length === 0 ? REPLACEMENT_BYTES : length;
    at = end;
    yield { at, cost, isSafe: plain.isGround };
  }
}

function near(room: number): number {
  return Math.min(NEAR_BYTES, room / 4);
}

/** Where the last line begins that is not just the end of the one before. */
function findLastLine(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : bytes.subarray(0, -1).lastIndexOf(LF) + 1;
}

function countRest(bytes: Uint8Array): number {
  let count = 0;
  while (count < CHARACTER_BYTES - 1 && isRest(bytes[count])) count += 1;
  return count;
}

function isRest(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}
