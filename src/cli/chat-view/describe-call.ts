import { cut, lastLine, safeLine } from "#cli/chat/safe-text.ts";
import { askedText } from "#cli/control/asked-text.ts";
import type { CallItem, CallStatus } from "#contract/conversation/items.ts";

const INPUT_CHARS = 60;
const VALUE_CHARS = 40;

const marks: Partial<Record<CallStatus, string>> = { done: "✓", failed: "✗", rejected: "✗" };
const waits: Partial<Record<CallStatus, string>> = { queued: "queued", waiting: "needs approval" };

/** A call as one line: its status, its name, how long it took, its input, and the last line that it printed. */
export function describeCall(call: CallItem, now: number): string {
  const { status, tool, output, result = output } = call;
  const said = lastLine(result);
  return [
    marks[status] ?? "◌",
    safeLine(askedText(tool)),
    waits[status] ?? describeTime(call, now),
    cut(describeInput(call.input, "short"), INPUT_CHARS),
    ...(said === "" ? [] : [`→ ${said}`]),
  ]
    .filter((word) => word !== "")
    .join(" ");
}

function describeTime({ started_at, ended_at }: CallItem, now: number): string {
  if (started_at === undefined) return "";
  const end = ended_at === undefined ? now : Date.parse(ended_at);
  return describeDuration(Math.max(0, end - Date.parse(started_at)));
}

export function describeInput(input: unknown, how: "short" | "whole"): string {
  if (input === undefined) return "";
  if (how === "whole") return askedText(JSON.stringify(input, null, 2));
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return safeLine(askedText(JSON.stringify(input)));
  return Object.entries(input)
    .map(([name, value]) => `${askedText(name)}=${cut(describeValue(value), VALUE_CHARS)}`)
    .map((word) => safeLine(word))
    .join(" ");
}

function describeValue(value: unknown): string {
  return askedText(typeof value === "string" ? value : JSON.stringify(value));
}

export function describeDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}h${minutes}m` : `${minutes}m${seconds % 60}s`;
}
