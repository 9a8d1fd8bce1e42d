import { constants } from "node:os";
import { exitCodeOf, hostGone } from "#cli/program/exit.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { Screen } from "./screen.ts";

/** Why this terminal is a shell's again. */
export type Ending =
  | {
      readonly kind: "exited";
      readonly exit_code: number | null;
      readonly signal: string | null;
      readonly reason: string;
      readonly detail?: string;
    }
  | { readonly kind: "lost" | "detached" | "host_gone" }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "failed"; readonly error: unknown };

/** The window was closed, or we are asked to end: the session goes on without us. */
export function onLeaving(leave: (why: Ending) => void): Disposable {
  const signals = ["SIGHUP", "SIGTERM", "SIGINT", "SIGQUIT"] as const;
  const onSignal = (signal: NodeJS.Signals) => leave({ kind: "signalled", signal });
  const onGone = () => leave({ kind: "signalled", signal: "SIGHUP" });
  for (const signal of signals) process.on(signal, onSignal);
  process.stdin.on("end", onGone);
  // Stays: a terminal that has gone may say so more than once.
  process.stdin.on("error", onGone);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, onSignal);
      process.stdin.off("end", onGone);
    },
  };
}

export interface Left {
  readonly session_id: Session["session_id"];
  /** The command that brings somebody back. */
  readonly back: string;
}

/** Says what has to be said, and answers the exit code. */
export function reportEnding(ending: Ending, { session_id, back }: Left, screen: Screen): number {
  switch (ending.kind) {
    case "exited":
      screen.notice(describeExit(ending));
      return ending.exit_code ?? 1;
    case "lost":
      screen.notice("lost: the host that ran it has died");
      return exitCodeOf(hostGone(session_id));
    case "failed":
      throw ending.error;
    case "host_gone":
      screen.notice(hostGone(session_id).message);
      return exitCodeOf(hostGone(session_id));
    case "detached":
    case "signalled":
      screen.notice(`detached; ${back} brings you back`);
      return ending.kind === "signalled" ? 128 + constants.signals[ending.signal] : 0;
  }
}

function describeExit(ending: Extract<Ending, { kind: "exited" }>): string {
  const { exit_code, signal, reason, detail = reason } = ending;
  if (reason !== "exited") return `closed: ${detail}`;
  return signal === null ? `exited with code ${exit_code}` : `ended by ${signal}`;
}

/** It ended, was taken or does not read: whatever it is, the session itself tells. */
const EXPECTED = [
  "not_controller",
  "already_exited",
  "session_not_found",
  "host_unavailable",
  "queue_full",
];

/** What may be refused to somebody who types, and is nothing to speak of. */
export function isExpected(error: unknown): boolean {
  return error instanceof Fault && EXPECTED.includes(error.code);
}
