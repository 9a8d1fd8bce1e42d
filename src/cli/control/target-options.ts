import { openPlace, type Place } from "#cli/place/place.ts";
import { choosePlace } from "#cli/place/records.ts";
import { findTarget, type TargetOptions } from "#cli/place/target.ts";
import type { Session } from "#contract/session.ts";

/** Of every command that does something with one session. */
export const targetOptions = {
  to: { type: "string" },
  remote: { type: "string" },
  json: { type: "boolean" },
} as const;

interface TargetValues {
  readonly to?: string | undefined;
  readonly remote?: string | undefined;
}

/** A session that somebody means, and where it is. */
export interface Target extends AsyncDisposable {
  readonly place: Place;
  readonly session: Session;
}

export async function openTarget(
  { to, remote }: TargetValues,
  options: TargetOptions = {},
): Promise<Target> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPlace(choosePlace({ to, remote })));
  const session = await findTarget(place, to, options);
  const owned = stack.move();
  return { place, session, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export function printJson(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
