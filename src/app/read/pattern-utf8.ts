/** Where characters begin and end in bytes that may not be UTF-8: the same cuts that `TextDecoder` makes. */

const CONTINUATION_FROM = 0x80;
const CONTINUATION_TO = 0xbf;
/** A character has at most this many bytes behind its first. */
const MOST_CONTINUATIONS = 3;

/**
 * How many bytes at a place become one character: a whole one, or the part of a broken one that is replaced by one
 * U+FFFD. Four bytes are two units of a string, everything else is one.
 */
export function characterLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const wanted = continuationsOf(lead);
  let length = 1;
  while (length <= wanted && mayFollow(lead, length, bytes[at + length])) length += 1;
  return length;
}

/** Bytes before `end` that begin a character whose rest is not there. */
export function unfinishedLength(bytes: Uint8Array, end: number): number {
  for (let back = 1; back <= Math.min(MOST_CONTINUATIONS, end); back += 1) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    const isOpen = continuationsOf(byte) >= back;
    return isOpen && characterLength(bytes.subarray(0, end), end - back) === back ? back : 0;
  }
  return 0;
}

/** The nearest place at or before `at` where text may be cut without changing what it decodes to. */
export function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 0; back <= Math.min(MOST_CONTINUATIONS, at); back += 1)
    if (!isContinuation(bytes[at - back] ?? 0)) return at - back;
  // More of them than any character has: each is a broken one of its own.
  return at;
}

/** How many bytes hold the first `units` of the text from `at` on; a pair of units is never cut. */
export function bytesOfUnits(bytes: Uint8Array, at: number, units: number): number {
  let end = at;
  for (let left = units; left > 0 && end < bytes.length; ) {
    const length = characterLength(bytes, end);
    end += length;
    left -= length > MOST_CONTINUATIONS ? 2 : 1;
  }
  return end - at;
}

function isContinuation(byte: number): boolean {
  return byte >= CONTINUATION_FROM && byte <= CONTINUATION_TO;
}

function continuationsOf(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return 1;
  return lead < 0xf0 ? 2 : MOST_CONTINUATIONS;
}

/** The second byte has a narrower range behind some first ones: no overlong forms, no surrogates, nothing too large. */
function mayFollow(lead: number, place: number, byte: number | undefined): boolean {
  if (byte === undefined || !isContinuation(byte)) return false;
  if (place > 1) return true;
  if (lead === 0xe0) return byte >= 0xa0;
  if (lead === 0xed) return byte <= 0x9f;
  if (lead === 0xf0) return byte >= 0x90;
  return lead !== 0xf4 || byte <= 0x8f;
}
