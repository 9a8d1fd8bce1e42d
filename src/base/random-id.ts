import { randomFillSync } from "node:crypto";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const LENGTH = 16;
/** Bytes at or above this would favour the first letters. */
const FAIR_BELOW = 252;

/** Drawn for many ids at once: the way to the system costs more than the bytes. Ids are no secrets. */
const drawn = new Uint8Array(4096);
let used = drawn.length;

/** `<prefix>_` and 16 letters or digits: 82 bits, so an id is never given twice. */
export function randomId<P extends string>(prefix: P): `${P}_${string}` {
  let letters = "";
  while (letters.length < LENGTH) {
    const byte = nextByte();
    if (byte < FAIR_BELOW) letters += ALPHABET[byte % ALPHABET.length];
  }
  return `${prefix}_${letters}`;
}

function nextByte(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += 1;
  return drawn[used - 1] ?? 0;
}
