import type { Session } from "#contract/session.ts";

/** Ends that were meant: an agent that ended so is not started again. */
const MEANT: readonly string[] = ["user_requested", "parent_closed", "lifetime_timeout"];

export type Life = "awake" | "parked" | "closed";

/** Whether somebody is there, would come back, or is gone for good. */
export function lifeOf({ state }: Pick<Session, "state">): Life {
  if (state.kind !== "exited" && state.kind !== "lost") return "awake";
  return MEANT.includes(state.reason) ? "closed" : "parked";
}
