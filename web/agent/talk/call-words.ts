import type { CallItem, CallStatus } from "#contract/conversation/items.ts";
import type { Session } from "#contract/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import type { Tone } from "#web/ui/badge.tsx";
import { wholeIndex } from "./fold.ts";

const ARGUMENT_CHARS = 160;
/** What says most about a call, best first. */
const TELLING = ["command", "path", "file", "pattern", "query", "url", "agent", "name", "message"];

/** A call in a few words. */
export function argumentOf(input: unknown): string {
  if (typeof input === "string") return oneLine(input);
  if (typeof input !== "object" || input === null) return "";
  const named = input as Record<string, unknown>;
  const name = TELLING.find((key) => typeof named[key] === "string") ?? Object.keys(named)[0];
  const value = name === undefined ? "" : named[name];
  if (typeof value === "string") return oneLine(value);
  return value === undefined ? "" : oneLine(JSON.stringify(value) ?? "");
}

function oneLine(text: string): string {
  // Only the beginning is looked at: an input may be very long.
  const start = text.slice(0, wholeIndex(text, 4 * ARGUMENT_CHARS));
  // Hidden characters first: some of them count as white space.
  const line = revealHidden(start, "decision").replace(/\s+/g, " ").trim();
  if (line.length <= ARGUMENT_CHARS && start.length === text.length) return line;
  return `${line.slice(0, wholeIndex(line, ARGUMENT_CHARS))}…`;
}

/** The command of a call that is nothing but one. */
export function commandOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { command, ...rest } = input as Record<string, unknown>;
  return typeof command === "string" && Object.keys(rest).length === 0 ? command : undefined;
}

interface StatusWords {
  readonly text: string;
  readonly tone: Tone;
}

const statusWords: Readonly<Record<CallStatus, StatusWords>> = {
  writing: { text: "being written", tone: "info" },
  queued: { text: "queued", tone: "neutral" },
  running: { text: "running", tone: "info" },
  waiting: { text: "waiting for approval", tone: "accent" },
  done: { text: "done", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  rejected: { text: "rejected", tone: "warn" },
  stopped: { text: "stopped", tone: "neutral" },
};

export function describeStatus({ status, exit_code }: CallItem): StatusWords {
  const words = statusWords[status];
  const isExit = status === "failed" && exit_code !== undefined && exit_code !== 0;
  return isExit ? { ...words, text: `exit code ${exit_code}` } : words;
}

/** How long it took, or has taken so far; undefined where nobody knows. */
export function durationOf(call: CallItem, now: number): number | undefined {
  if (call.started_at === undefined || call.status === "rejected") return undefined;
  const end = call.ended_at === undefined ? now : Date.parse(call.ended_at);
  const isTiming = call.status === "running" || call.ended_at !== undefined;
  return isTiming ? Math.max(0, end - Date.parse(call.started_at)) : undefined;
}

const SESSION_ID = /\bses_[0-9a-z]{16}\b/g;
/** Clocks of two processes differ by less. */
const SLACK_MS = 2000;

type Child = Pick<Session, "session_id" | "argv" | "created_at">;

/** The sessions that a call started or spoke of, among those that the agent has started. */
export function sessionsOf<T extends Child>(call: CallItem, children: readonly T[]): readonly T[] {
  if (children.length === 0) return [];
  const text = `${JSON.stringify(call.input) ?? ""} ${call.result ?? ""}`;
  const named = new Set(text.match(SESSION_ID) ?? []);
  const found = children.filter(({ session_id }) => named.has(session_id));
  if (found.length > 0) return found;
  // One that still runs has not told its name; its command and the moment do.
  const { command } = (call.input ?? {}) as { readonly command?: unknown };
  if (typeof command !== "string" || call.started_at === undefined) return [];
  const from = Date.parse(call.started_at) - SLACK_MS;
  const until = call.ended_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(call.ended_at);
  const isIts = ({ argv, created_at }: Child) =>
    argv.includes(command) && Date.parse(created_at) >= from && Date.parse(created_at) <= until;
  return children.filter(isIts).slice(0, 1);
}
