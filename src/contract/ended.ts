import type { Session } from "./session.ts";
import type { EndReason, SessionState } from "./session-state.ts";

/** How far a session has come. No zod in this file: the CLI's fast path and the page load it. */
interface Lived {
  readonly state: SessionState;
}

/** End reasons that someone chose. An agent that ended for one of them is not started again. */
export const DELIBERATE_END_REASONS: readonly EndReason[] = [
  "user_requested",
  "parent_closed",
  "lifetime_timeout",
];

/** The session runs or is about to. */
export function isLive({ state }: Lived): boolean {
  return state.kind === "starting" || state.kind === "running";
}

/** The session has exited or was lost; its descendants may still print. */
export function hasEnded({ state }: Lived): boolean {
  return state.kind === "exited" || state.kind === "lost";
}

/** The session's output will not grow any more. */
export function isFinal({ state }: Lived): boolean {
  return state.kind === "lost" || (state.kind === "exited" && state.final);
}

/** The agent's worker ended by itself with exit code 0: its next worker continues where it was. */
export function isSleeping({ state }: Lived): boolean {
  return state.kind === "exited" && state.reason === "exited" && state.exit_code === 0;
}

/** The agent's worker has ended, sleeping or crashed, and may be started again: its events continue then. */
export function isResumable({ kind, state }: Pick<Session, "kind" | "state">): boolean {
  if (kind !== "agent" || (state.kind !== "exited" && state.kind !== "lost")) return false;
  return !DELIBERATE_END_REASONS.includes(state.reason);
}

/** The agent's worker ended neither by its own choice nor by a person's, and may be started again. */
export function isCrashed(session: Pick<Session, "kind" | "state">): boolean {
  return isResumable(session) && !isSleeping(session);
}
