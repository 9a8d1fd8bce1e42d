import { printable } from "#cli/program/printable.ts";
import type { Client } from "#client/client.ts";
import type { TeamSummary } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import { defined } from "#contract/values/defined.ts";
import { createAgentRequest } from "./agent-request.ts";
import type { TeamPlan } from "./team-plan.ts";
import { findSource } from "./team-source.ts";

/** Checks the team and everything that would be asked of it; creates nothing. */
export async function loadPlanned(client: Client, plan: TeamPlan): Promise<TeamSummary> {
  const isRemote = client.address !== undefined;
  const source = findSource(plan.team ?? "", { isRemote });
  const { model_overrides, prompt_files } = createAgentRequest({
    ...plan,
    ...{ session: undefined, isRemote, source },
  });
  const { agent, task, workingDir = task === undefined ? "." : undefined } = plan;
  // Behind a server its own files count. A task may have a directory that only the server knows.
  const working_dir = isRemote && prompt_files !== undefined ? workingDir : undefined;
  const summary = await createBackend(client).load({
    ...{ source, model_overrides, prompt_files },
    ...defined({ working_dir }),
  });
  if (agent === undefined || summary.agent_names.includes(agent)) return summary;
  throw new Fault(
    "invalid_request",
    `--agent: the team has no agent ${JSON.stringify(agent)}; it has ${summary.agent_names.join(", ")}`,
  );
}

export function describeTeam(
  summary: TeamSummary,
  { json, agent: chosen }: Pick<TeamPlan, "json" | "agent">,
): string {
  if (json) return `${JSON.stringify(summary)}\n`;
  const first = chosen ?? summary.default_agent;
  const lines = summary.agents.flatMap(({ name, model, description, sub_agents, handoffs }) => [
    `${name}${name === first ? " (starts)" : ""}: ${model}`,
    ...(description === "" ? [] : [`  ${description}`]),
    ...(sub_agents.length === 0 ? [] : [`  gives tasks to ${sub_agents.join(", ")}`]),
    ...(handoffs.length === 0 ? [] : [`  hands over to ${handoffs.join(", ")}`]),
  ]);
  const warnings = summary.warnings.map((warning) => `warning: ${warning}`);
  return [summary.team_id, ...lines, ...warnings].map((line) => `${printable(line)}\n`).join("");
}
