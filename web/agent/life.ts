import { DELIBERATE_END_REASONS } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";

type Life = "awake" | "parked" | "closed";

/** Whether the worker runs, may be started again, or has ended for good. */
export function lifeOf({ state }: Pick<Session, "state">): Life {
  if (state.kind !== "exited" && state.kind !== "lost") return "awake";
  return DELIBERATE_END_REASONS.includes(state.reason) ? "closed" : "parked";
}
