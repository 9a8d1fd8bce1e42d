import type { OpenCall } from "#cli/chat/chat-types.ts";
import { cut, lastLine, safeLine } from "#cli/chat/safe-text.ts";
import { askedText } from "#cli/team/asked-text.ts";

const INPUT_CHARS = 60;
const VALUE_CHARS = 40;

/** A call as one line: what becomes of it, its name, how long it took, with what, and the last that it said. */
export function describeCall(
  call: Pick<OpenCall, "tool" | "input" | "output">,
  durationMs: number | undefined,
  mark: string,
): string {
  const said = lastLine(call.output);
  return [
    mark,
    safeLine(askedText(call.tool)),
    ...(durationMs === undefined ? [] : [describeDuration(durationMs)]),
    cut(describeInput(call.input, "short"), INPUT_CHARS),
    ...(said === "" ? [] : [`→ ${said}`]),
  ]
    .filter((word) => word !== "")
    .join(" ");
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
