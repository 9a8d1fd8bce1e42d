import { modelOf } from "#agent/team/describe-team.ts";
import type { AgentDefinition } from "#agent/team/team.ts";
import { listTools } from "#agent/turn/calls.ts";
import type { Cast, Stage } from "#agent/turn/stage.ts";
import type { ModelCard, ToolCard } from "#contract/agent/views.ts";

export function describeTools(cast: Cast): ToolCard[] {
  return listTools({ cast }).map(({ name, toolset, description, input_schema, hints }) => ({
    name,
    toolset,
    description,
    // A schema is JSON.
    input_schema: input_schema as ToolCard["input_schema"],
    ...hints,
  }));
}

/** The models that the team's file names, and those that were chosen. */
export function describeModels({ team, fold }: Stage, current: AgentDefinition): ModelCard[] {
  const names = Object.keys(team.models);
  const used = team.agents.flatMap(({ model, fallback }) => [model, ...fallback.models]);
  const chosen = Object.values(fold.model_overrides);
  const now = modelOf(current, fold.model_overrides);
  return [...new Set([...names, ...used, ...chosen])].map((reference) => {
    const config = team.models[reference];
    const isCurrent = reference === now;
    if (config === undefined) return { model: reference, current: isCurrent };
    const model =
      config.model === undefined ? config.provider : `${config.provider}/${config.model}`;
    return { model, name: reference, current: isCurrent };
  });
}
