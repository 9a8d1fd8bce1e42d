import { isLive } from "#contract/ended.ts";
import type { EndReason, SessionState, Survivor } from "#contract/session-state.ts";
import { defined } from "#contract/values/defined.ts";

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
  | { readonly kind: "revived" }
  /** Closed for good, after its own end. */
  | { readonly kind: "closed"; readonly reason: EndReason; readonly detail?: string | undefined }
  | { readonly kind: "host_died" };

/** The one place where a state follows from another. What cannot happen in a state changes nothing. */
export function transition(state: SessionState, happening: Happening): SessionState {
  switch (happening.kind) {
    case "spawned":
      return state.kind === "starting" ? { kind: "running" } : state;
    case "exited":
      return isLive({ state }) ? exitedBy(happening) : state;
    case "survived":
      if (state.kind !== "exited" || happening.survivors.length === 0) return state;
      return { ...state, survivors: [...happening.survivors] };
    case "output_ended":
      return state.kind === "exited" ? { ...state, final: true } : state;
    case "revived":
      return isLive({ state }) ? state : { kind: "starting" };
    case "closed":
      return closedBy(state, happening);
    case "host_died":
      return isLive({ state })
        ? { kind: "lost", reason: "host_lost" }
        : transition(state, { kind: "output_ended" });
  }
}

function exitedBy(happening: Extract<Happening, { kind: "exited" }>): SessionState {
  const { exit_code, signal, tail } = happening;
  return { kind: "exited", exit_code, signal, ...because(happening), tail, final: false };
}

function closedBy(
  state: SessionState,
  happening: Extract<Happening, { kind: "closed" }>,
): SessionState {
  if (state.kind !== "exited" && state.kind !== "lost") return state;
  return { ...state, ...because(happening) };
}

function because({ reason, detail }: { reason: EndReason; detail?: string | undefined }) {
  return { reason, ...defined({ detail }) };
}
