import type { TeamAgent } from "#contract/agent/events.ts";
import type { ModelCard, ToolCard, ToolsetStatus } from "#contract/agent/views.ts";
import type { Session } from "#contract/session.ts";
import { cut, safeLine } from "./safe-text.ts";

const DESCRIPTION_CHARS = 60;
const LINES = 200;

export function describeTools(
  tools: readonly ToolCard[],
  toolsets: readonly ToolsetStatus[],
): string {
  const broken = toolsets
    .filter(({ status }) => status !== "ready")
    .map(({ name, status, message }) => `${name}: ${status} ${message ?? ""}`);
  const known = tools.map(
    ({ name, description }) => `${name}: ${cut(safeLine(description), DESCRIPTION_CHARS)}`,
  );
  return join([...known, ...broken], "the agent has no tools");
}

export function describeModels(models: readonly ModelCard[]): string {
  const lines = models.map(({ model, name, current }) =>
    mark(current, name === undefined ? model : `${name} (${model})`),
  );
  return join(lines, "there is no other model");
}

export function describeAgents(agents: readonly TeamAgent[], current: string): string {
  const lines = agents.map(({ name, description }) =>
    mark(name === current, `${name}: ${cut(safeLine(description), DESCRIPTION_CHARS)}`),
  );
  return join(lines, "the agent is alone");
}

export function describeSessions(sessions: readonly Session[], current: string): string {
  const lines = sessions.map(({ session_id, kind, state, title }) =>
    mark(session_id === current, `${session_id} ${kind} ${state.kind} ${safeLine(title)}`),
  );
  return join([...lines, "reins attach ID goes there"], "there is nothing else");
}

function mark(isCurrent: boolean, text: string): string {
  return `${isCurrent ? "*" : " "} ${text}`;
}

function join(lines: readonly string[], nothing: string): string {
  if (lines.length === 0) return nothing;
  const more = lines.length - LINES;
  return [...lines.slice(0, LINES), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
