/**
 * How often a test repeats what goes wrong rarely: a few times in `npm test`, many times in `npm run soak`, which runs
 * every file that imports this one.
 */
export function repeats({ few, full }: { readonly few: number; readonly full: number }): number {
  return isFull() ? full : few;
}

/** Likewise the rows of a table: some of them stand for all in `npm test`. */
export function rows<T>({
  few,
  full,
}: {
  readonly few: readonly T[];
  readonly full: readonly T[];
}) {
  return isFull() ? full : few;
}

function isFull(): boolean {
  return process.env.RT_REPEATS === "full";
}
