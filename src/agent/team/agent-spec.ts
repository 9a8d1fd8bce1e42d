import type { AgentSpec } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationInput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import type { TeamText } from "./load-team.ts";
import type { Team } from "./team.ts";

type AgentCreate = OperationInput<"agent.create">;

/** The first line of a worker: the team, where it works, and what the request has chosen. */
export function describeSpec(
  input: AgentCreate,
  team: Team,
  text: TeamText & Pick<AgentSpec, "work_dir">,
): AgentSpec {
  const { permissions, safety, model_overrides, prompt_files, headless } = input;
  return {
    ...text,
    agent: chooseAgent(team, input.agent_name),
    ...defined({
      ...{ permissions, safety, limits: input.limits, model_overrides, prompt_files, headless },
      titled: input.title === undefined ? undefined : true,
    }),
  };
}

function chooseAgent(team: Team, named: string | undefined): string {
  if (named === undefined) return team.default_agent;
  const names = team.agents.map(({ name }) => name);
  if (names.includes(named)) return named;
  throw new Fault(
    "invalid_request",
    `agent_name: the team has no agent ${JSON.stringify(named)}; it has ${names.join(", ")}`,
    { details: { field: "agent_name", known: names } },
  );
}
