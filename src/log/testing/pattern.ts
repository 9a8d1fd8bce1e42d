/**
 * An endless log that is known beforehand: which bytes are at an offset, on which channel and in which pieces
 * they are appended follows from the seed alone, so that processes can check each other without talking.
 */
export interface Piece {
  readonly offset: number;
  readonly channel: number;
  readonly bytes: Buffer;
}

const LONGEST = 60;

/** The pieces from an offset on; the first is what is left of the one that the offset lies in. */
export function* piecesFrom(seed: number, from: number): Generator<Piece, never> {
  let state = seed * 2_654_435_761 + 1;
  const random = (below: number) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
  for (let offset = 0; ; ) {
    const channel = 1 + random(2);
    const end = offset + 1 + random(LONGEST);
    if (end > from)
      yield {
        offset: Math.max(offset, from),
        channel,
        bytes: bytesIn(Math.max(offset, from), end),
      };
    offset = end;
  }
}

function bytesIn(from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  for (let offset = from; offset < to; offset += 1)
    bytes[offset - from] = (offset * 31 + (offset >>> 8)) & 0xff;
  return bytes;
}
