import type { Session } from "#contract/session.ts";
import type { EndReason } from "#contract/session-state.ts";
import type { Tone } from "#web/ui/badge.tsx";
import type { Exit } from "./control-state.ts";

const reasons: Readonly<Record<EndReason, string>> = {
  exited: "",
  user_requested: "somebody closed it",
  idle_timeout: "nothing happened in it for too long",
  lifetime_timeout: "its time was over",
  parent_closed: "the session that started it was closed",
  host_shutdown: "the host was stopped",
  spawn_failed: "it could not be started",
  host_lost: "the host that ran it died; what it had printed is kept",
};

interface ExitShown {
  readonly tone: Tone;
  readonly badge: string;
  readonly sentence: string;
}

/** How it ended, for people. */
export function describeExit(exit: Exit, { state }: Pick<Session, "state">): ExitShown {
  const { reason } = exit;
  const detail = "detail" in state && state.detail !== undefined ? ` (${state.detail})` : "";
  const why = reasons[reason] === "" ? "" : `: ${reasons[reason]}${detail}`;
  return { ...sayHow(exit), sentence: `${sayHow(exit).sentence}${why}.` };
}

function sayHow({ exit_code, signal, reason }: Exit): ExitShown {
  if (reason === "spawn_failed")
    return { tone: "bad", badge: "never ran", sentence: "This session never ran" };
  if (reason === "host_lost")
    return { tone: "bad", badge: "lost", sentence: "This session was lost" };
  if (signal !== null) {
    const tone = reason === "exited" ? "bad" : "neutral";
    return { tone, badge: signal, sentence: `This session was ended by the signal ${signal}` };
  }
  if (exit_code === null)
    return { tone: "neutral", badge: "ended", sentence: "This session has ended" };
  const tone = exit_code === 0 ? "good" : "bad";
  const sentence = `This session has ended with code ${exit_code}`;
  return { tone, badge: `exit ${exit_code}`, sentence };
}
