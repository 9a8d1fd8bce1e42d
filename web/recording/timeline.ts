/** Nothing happens for longer: with idle time left out, this much of it is shown. */
export const IDLE_SECONDS = 2;

/**
 * When things happen, as recorded and as shown: where nothing happens for long, shown time may run short. Both are
 * seconds from the beginning, and both only ever grow.
 */
export interface Timeline {
  readonly duration: number;
  /** Shown time of a recorded moment. */
  show(recorded: number): number;
  /** Recorded moment of a shown time. */
  record(shown: number): number;
  /** How many events have happened at a shown time, those of that very moment included. */
  countAt(shown: number): number;
}

/** `times`: of the events, growing. `idleMost`: what of each pause is shown. */
export function createTimeline(times: readonly number[], idleMost: number): Timeline {
  const shownTimes: number[] = [];
  let [recordedBefore, shownBefore] = [0, 0];
  for (const at of times) {
    shownBefore += Math.min(idleMost, at - recordedBefore);
    recordedBefore = at;
    shownTimes.push(shownBefore);
  }
  const duration = shownTimes.at(-1) ?? 0;
  /** The pause in which a time lies is run through at its own speed. */
  const convert = (from: readonly number[], to: readonly number[], at: number): number => {
    const next = countUpTo(from, at);
    const [fromStart, toStart] = [from[next - 1] ?? 0, to[next - 1] ?? 0];
    const [fromEnd, toEnd] = [from[next], to[next]];
    if (fromEnd === undefined || toEnd === undefined || fromEnd <= fromStart) return toStart;
    const part = Math.max(0, at - fromStart) / (fromEnd - fromStart);
    return toStart + part * (toEnd - toStart);
  };
  return {
    duration,
    show: (recorded) => convert(times, shownTimes, recorded),
    record: (shown) => convert(shownTimes, times, shown),
    countAt: (shown) => countUpTo(shownTimes, shown),
  };
}

/** How many are not behind it. */
function countUpTo(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `12`, `1:30`, `1:02:03`, with parts of a second; undefined for anything else. */
export function parseClock(text: string): number | undefined {
  const found = /^(?:(?:(\d{1,4}):)?(\d{1,4}):)?(\d{1,6}(?:[.,]\d{1,3})?)$/.exec(text.trim());
  if (found === null) return undefined;
  const [hours = "0", minutes = "0", seconds = "0"] = found.slice(1);
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(",", "."));
}
