import { isLive, isResumable } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import type { Tone } from "#web/ui/badge.tsx";

interface StateWords {
  readonly tone: Tone;
  readonly text: string;
}

type Shown = Pick<Session, "status" | "state" | "kind">;

/** The status of a session in a word or two. */
export function describeState(session: Shown): StateWords {
  const { status, state, kind } = session;
  // A host that knows no status still knows whether a terminal or a command runs.
  if (status === null && kind === "agent" && !hasEnded(session))
    return { tone: "neutral", text: "unknown" };
  switch (status ?? (isLive({ state }) ? state.kind : "ended")) {
    case "starting":
      return { tone: "info", text: "starting" };
    case "running":
      return { tone: "good", text: "running" };
    case "working":
      return { tone: "good", text: "working" };
    case "idle":
      return { tone: "info", text: "idle" };
    case "needs_you":
      return { tone: "accent", text: "needs you" };
    case "sleeping":
      return { tone: "neutral", text: "sleeping" };
    default:
      return describeEnd(session);
  }
}

/** Nothing runs, and no message would wake it. */
export function hasEnded(session: Shown): boolean {
  const { status } = session;
  return status === null ? !isLive(session) && !isResumable(session) : status === "ended";
}

const DELIBERATE = ["user_requested", "parent_closed", "lifetime_timeout"];

function describeEnd({ state, kind }: Shown): StateWords {
  if (state.kind === "lost") return { tone: "bad", text: "lost" };
  if (state.kind !== "exited") return { tone: "neutral", text: "ended" };
  if (DELIBERATE.includes(state.reason)) return { tone: "neutral", text: "closed" };
  if (kind === "agent") return { tone: "bad", text: "crashed" };
  if (state.signal !== null) return { tone: "bad", text: state.signal };
  if (state.exit_code === null) return { tone: "bad", text: "never ran" };
  return { tone: state.exit_code === 0 ? "neutral" : "bad", text: `exit ${state.exit_code}` };
}
