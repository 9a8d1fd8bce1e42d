/** The same numbers for the same seed. */
export interface Random {
  /** A whole number from 0 to one less than this. */
  below(limit: number): number;
  between(least: number, most: number): number;
}

/** mulberry32, a public-domain generator: short, and good enough to choose where to hit. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, between: (least, most) => least + below(most - least + 1) };
}
