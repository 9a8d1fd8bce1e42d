export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Between two values it is on the line between them. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** Runs each in turn, so many times over: what slows the machine for a while slows all of them. */
export async function interleave<K extends string>(
  runs: number,
  measures: Readonly<Record<K, () => Promise<number> | number>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(measures) as K[];
  // Every key of the measures is set here.
  const found = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    K,
    number[]
  >;
  for (let run = 0; run < runs; run += 1) {
    for (const name of names) found[name].push(await measures[name]());
  }
  return found;
}

/** Ratios of the values of the same round, so that both sides of each met the same machine. */
export function pairedRatios(values: readonly number[], against: readonly number[]): number[] {
  return values.map((value, round) => value / (against[round] ?? Number.NaN));
}
