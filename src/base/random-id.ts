import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const LENGTH = 16;
/** Bytes at or above this would favour the first letters. */
const FAIR_BELOW = 252;

/** `<prefix>_` and 16 letters or digits: 82 bits, so an id is never given twice. */
export function randomId<P extends string>(prefix: P): `${P}_${string}` {
  let letters = "";
  while (letters.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      if (byte < FAIR_BELOW && letters.length < LENGTH) letters += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}_${letters}`;
}
