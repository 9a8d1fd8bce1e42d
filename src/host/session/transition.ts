import type { EndReason, SessionState, Survivor } from "#contract/session-state.ts";

/** Everything that can happen to a session's state. */
export type Happening =
  | { readonly kind: "spawned" }
  | {
      readonly kind: "exited";
      readonly exit_code: number | null;
      readonly signal: string | null;
      readonly reason: EndReason;
      readonly detail?: string | undefined;
      readonly tail: number;
    }
  | { readonly kind: "survived"; readonly survivors: readonly Survivor[] }
  | { readonly kind: "output_ended" }
  | { readonly kind: "host_died" };

/** The one place where a state follows from another. What cannot happen in a state changes nothing. */
export function transition(state: SessionState, happening: Happening): SessionState {
  switch (happening.kind) {
    case "spawned":
      return state.kind === "starting" ? { kind: "running" } : state;
    case "exited":
      return isLive(state) ? exitedBy(happening) : state;
    case "survived":
      if (state.kind !== "exited" || happening.survivors.length === 0) return state;
      return { ...state, survivors: [...happening.survivors] };
    case "output_ended":
      return state.kind === "exited" ? { ...state, final: true } : state;
    case "host_died":
      return isLive(state)
        ? { kind: "lost", reason: "host_lost" }
        : transition(state, { kind: "output_ended" });
  }
}

export function isLive(state: SessionState): boolean {
  return state.kind === "starting" || state.kind === "running";
}

function exitedBy(happening: Extract<Happening, { kind: "exited" }>): SessionState {
  const { exit_code, signal, reason, detail, tail } = happening;
  return {
    kind: "exited",
    exit_code,
    signal,
    reason,
    ...(detail === undefined ? {} : { detail }),
    tail,
    final: false,
  };
}
