import { openRandom } from "#test/harness/random.ts";

/** Everything that is done to the system, and for how long at most where it has a duration. */
export const faultKinds = {
  "client.kill": 0,
  "client.stop": 2500,
  "client.hup": 0,
  "gateway.kill": 800,
  "gateway.stop": 2000,
  "gateway.hup": 500,
  "gateway.descriptors": 2000,
  "worker.kill": 0,
  "worker.stop": 2000,
  "worker.hup": 0,
  "host.kill": 0,
  "host.stop": 2000,
  "host.hup": 0,
  "host.descriptors": 2000,
  "link.cut": 0,
  "link.reset": 0,
  "link.half-open": 2500,
  "link.delay": 2000,
  "reader.slow": 4000,
  "disk.full": 2000,
  "clock.jump": 0,
  suspend: 3000,
} as const satisfies Record<string, number>;

export type FaultKind = keyof typeof faultKinds;

export interface Step {
  readonly at_ms: number;
  readonly kind: FaultKind;
  readonly lasts_ms: number;
  /** Chooses among what there is at that moment. */
  readonly pick: number;
}

const LEAD_MS = 3000;
/** Between the last fault and the end of the workload: whatever is broken has time to heal. */
const TRAIL_MS = 6000;
/** From here on a suspension is longer than every lease and every ping. */
const LONG_RUN_MS = 10 * 60_000;
const LONG_SUSPENSION_MS = 70_000;
const EACH = 2;
/** On the average, in runs that are longer than all kinds take. */
const PACE_MS = 1100;
const SHORTEST = 0.4;

/** The same steps for the same seed. Every kind comes at least twice, in any order. */
export function planSteps(seed: number, totalMs: number): Step[] {
  const random = openRandom(seed);
  // The keys are the kinds.
  const kinds = Object.keys(faultKinds) as FaultKind[];
  const room = Math.max(0, totalMs - LEAD_MS - TRAIL_MS);
  const count = Math.max(EACH * kinds.length, Math.floor(room / PACE_MS));
  const chosen = kinds.flatMap((kind) => Array<FaultKind>(EACH).fill(kind));
  while (chosen.length < count) chosen.push(kinds[random.below(kinds.length)] ?? "client.kill");
  shuffle(chosen, random.below);
  const isLong = totalMs >= LONG_RUN_MS;
  let suspensions = 0;
  return chosen.map((kind, index) => {
    const most = faultKinds[kind];
    const share = SHORTEST + ((1 - SHORTEST) * random.below(1000)) / 1000;
    if (kind === "suspend") suspensions += 1;
    const isLongest = isLong && kind === "suspend" && suspensions <= EACH;
    return {
      at_ms: LEAD_MS + Math.floor((room * (index + random.below(1000) / 1000)) / chosen.length),
      kind,
      lasts_ms: isLongest ? LONG_SUSPENSION_MS : Math.floor(most * share),
      pick: random.below(2 ** 30),
    };
  });
}

function shuffle<T>(list: T[], below: (limit: number) => number): void {
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    const [a, b] = [list[last], list[other]];
    // Both places are in the list.
    if (a === undefined || b === undefined) continue;
    list[last] = b;
    list[other] = a;
  }
}
