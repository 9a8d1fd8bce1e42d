import type { SessionState } from "./session-state.ts";

/** How far a session has come. No zod in here: the cli's fast path loads it. */
interface Lived {
  readonly state: SessionState;
}

/** It runs, or is about to. */
export function isLive({ state }: Lived): boolean {
  return state.kind === "starting" || state.kind === "running";
}

/** It has exited or was lost; what it started may still print. */
export function hasEnded({ state }: Lived): boolean {
  return state.kind === "exited" || state.kind === "lost";
}

/** Nobody can print any more. */
export function isFinal({ state }: Lived): boolean {
  return state.kind === "lost" || (state.kind === "exited" && state.final);
}
