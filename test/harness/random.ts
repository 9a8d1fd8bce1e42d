/** The same numbers for the same seed, so that what fails can be run again. */
export interface Random {
  /** A whole number from 0 to one less than this. */
  below(limit: number): number;
  /** Both of them included. */
  between(least: number, most: number): number;
  boolean(): boolean;
}

export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32, a public-domain generator: short, and good enough to choose where to cut.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    boolean: () => next() < 0.5,
  };
}
