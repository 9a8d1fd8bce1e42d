/**
 * How often a test repeats what goes wrong rarely: a few times in `npm test`, many times in `npm run soak`, which runs
 * every file that imports this one.
 */
export function repeats({ few, full }: { readonly few: number; readonly full: number }): number {
  return process.env.RT_REPEATS === "full" ? full : few;
}
