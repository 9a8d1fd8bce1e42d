import type { Glance } from "#contract/operations/session.ts";
import type { Session } from "#contract/session.ts";
import type { Tone } from "#web/ui/badge.tsx";

export type Activity = NonNullable<Glance["activity"]>;

export interface StateWords {
  readonly tone: Tone;
  readonly text: string;
}

interface Known {
  readonly isAsking?: boolean | undefined;
  readonly activity?: Activity | undefined;
}

/** How a session is, in a word or two. */
export function describeState(
  { state, kind }: Pick<Session, "state" | "kind">,
  { isAsking = false, activity }: Known = {},
): StateWords {
  if (isAsking) return { tone: "accent", text: "needs an answer" };
  switch (state.kind) {
    case "starting":
      return { tone: "info", text: "starting" };
    case "running":
      return kind === "agent" ? describeActivity(activity) : { tone: "good", text: "running" };
    case "lost":
      return kind === "agent" && state.reason === "host_lost"
        ? { tone: "neutral", text: "parked" }
        : { tone: "bad", text: "lost" };
    case "exited":
      return describeExit(state, kind);
  }
}

/** An agent's process runs also while there is nothing to do. */
function describeActivity(activity: Activity | undefined): StateWords {
  if (activity === "running") return { tone: "good", text: "working" };
  if (activity === "idle") return { tone: "info", text: "idle" };
  return { tone: "good", text: "running" };
}

const MEANT = ["user_requested", "parent_closed", "lifetime_timeout"];

function describeExit(
  state: Extract<Session["state"], { kind: "exited" }>,
  kind: Session["kind"],
): StateWords {
  if (MEANT.includes(state.reason)) return { tone: "neutral", text: "closed" };
  if (kind === "agent") return { tone: "neutral", text: "parked" };
  if (state.signal !== null) return { tone: "bad", text: state.signal };
  if (state.exit_code === null) return { tone: "bad", text: "never ran" };
  return { tone: state.exit_code === 0 ? "neutral" : "bad", text: `exit ${state.exit_code}` };
}
