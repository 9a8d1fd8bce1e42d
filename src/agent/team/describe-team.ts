import { askWhether } from "#agent/team-file/team-problem.ts";
import { findNearest } from "#base/nearest.ts";
import type { TeamAgent } from "#contract/agent/events.ts";
import type { ModelOverrides } from "#contract/agent/spec.ts";
import type { TeamSummary } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { addressNames, getSource, keyNames } from "#model/source.ts";
import { findModelProblem } from "./check-models.ts";
import type { AgentDefinition, Team } from "./team.ts";

const EVERY_AGENT = "*";

/** What is in a team, for who chooses one. */
export function describeTeam(team: Team, overrides: ModelOverrides = {}): TeamSummary {
  const { agents } = applyOverrides(team, { model_overrides: overrides });
  return {
    team_id: team.team_id,
    agent_names: agents.map((agent) => agent.name),
    default_agent: team.default_agent,
    agents: agents.map((agent) => describeAgent(agent)),
    warnings: [...team.warnings],
  };
}

export function describeAgent(agent: AgentDefinition): TeamAgent {
  const commands = Object.entries(agent.commands).map(([name, command]) => [
    name,
    command.description,
  ]);
  return {
    name: agent.name,
    description: agent.description,
    model: agent.model,
    commands: Object.fromEntries(commands),
    sub_agents: [...agent.sub_agents],
    handoffs: [...agent.handoffs],
  };
}

/** Every reference to a model that a run may follow, each once. */
export function modelReferences(team: Team, overrides: ModelOverrides = {}): string[] {
  const { agents } = applyOverrides(team, { model_overrides: overrides });
  return [...new Set(agents.flatMap((agent) => [agent.model, ...agent.fallback.models]))];
}

/** Names of the environment variables whose keys a run needs. */
export function keyNamesOf(team: Team, overrides: ModelOverrides = {}): string[] {
  return keyNames(team.models, team.providers, modelReferences(team, overrides));
}

/** Names of the environment variables that may say where its models are. */
export function addressNamesOf(team: Team, overrides: ModelOverrides = {}): string[] {
  return addressNames(team, modelReferences(team, overrides));
}

/** The variables of which one must hold the key of the agent's own model, when none of them does. */
export function findMissingKeys(
  team: Team,
  {
    agent,
    overrides,
    keyEnv,
  }: {
    readonly agent: string;
    readonly overrides: ModelOverrides;
    readonly keyEnv: Readonly<Record<string, string | undefined>>;
  },
): readonly string[] {
  const definition = team.agents.find(({ name }) => name === agent);
  if (definition === undefined) return [];
  const { key_names } = getSource(team, modelOf(definition, overrides));
  return key_names.some((name) => (keyEnv[name] ?? "") !== "") ? [] : key_names;
}

/** The team as one run wants it. An agent or a model that is not there is a Fault `invalid_request`. */
export function applyOverrides(
  team: Team,
  {
    model_overrides = {},
    prompt_files = [],
  }: {
    readonly model_overrides?: ModelOverrides | undefined;
    readonly prompt_files?: readonly string[] | undefined;
  },
): Team {
  for (const [agent, model] of Object.entries(model_overrides)) {
    checkAgentName(team, agent);
    checkModel(team, agent, model);
  }
  const agents = team.agents.map((agent) => ({
    ...agent,
    model: modelOf(agent, model_overrides),
    prompt_files: mergeFiles(agent, prompt_files),
  }));
  return { ...team, agents };
}

/** The model that an agent uses now, by its name in the file or as `provider/model`. */
export function modelOf(
  { name, model }: Pick<AgentDefinition, "name" | "model">,
  overrides: ModelOverrides,
): string {
  return ownValue(overrides, name) ?? overrides[EVERY_AGENT] ?? model;
}

function mergeFiles(agent: AgentDefinition, added: readonly string[]): string[] {
  const files = [...new Set([...agent.prompt_files, ...added])];
  if (files.length <= limits.prompt_files) return files;
  throw new Fault(
    "invalid_request",
    `prompt_files: \`${agent.name}\` has ${files.length} with its own; ${limits.prompt_files} are allowed`,
  );
}

function checkAgentName(team: Team, name: string): void {
  const names = team.agents.map((agent) => agent.name);
  if (name === EVERY_AGENT || names.includes(name)) return;
  const suggestion = findNearest(name, names);
  const advice = askWhether(suggestion) || `; known are ${names.join(", ")}`;
  refuse(`there is no agent \`${name}\`${advice}`, suggestion);
}

function checkModel(team: Team, agent: string, model: string): void {
  const problem = findModelProblem(model, team);
  if (problem !== undefined) refuse(`${agent}: ${problem.message}`, problem.suggestion);
}

function refuse(message: string, suggestion: string | undefined): never {
  throw new Fault("invalid_request", `model_overrides: ${message}`, {
    details: defined({ suggestion }),
  });
}

/** An agent may be called as something that every object has. */
function ownValue(map: ModelOverrides, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
