import type { TeamFile } from "./team-file.ts";
import { writePath } from "./team-problem.ts";

/** What is allowed but is likely a mistake. */
export function findWarnings(file: TeamFile): string[] {
  return [
    ...findUnusedModels(file),
    ...findNameless(file),
    ...findToolless(file),
    ...findBeaten(file),
  ];
}

function findUnusedModels({ agents, models = {} }: TeamFile): string[] {
  const used = Object.values(agents).flatMap((agent) => [
    agent.model,
    ...(agent.fallback?.models ?? []),
  ]);
  return Object.keys(models)
    .filter((name) => !used.includes(name))
    .map((name) => `${writePath(["models", name])}: no agent uses this model`);
}

function findNameless({ agents }: TeamFile): string[] {
  const chosen = Object.values(agents).flatMap(({ sub_agents = [], handoffs = [] }) => [
    ...sub_agents,
    ...handoffs,
  ]);
  return Object.entries(agents)
    .filter(([name, agent]) => chosen.includes(name) && (agent.description ?? "").trim() === "")
    .map(
      ([name]) => `${writePath(["agents", name])}: others choose it by a description it has not`,
    );
}

function findToolless({ agents }: TeamFile): string[] {
  return Object.entries(agents).flatMap(([name, { toolsets = [] }]) =>
    toolsets.flatMap(({ tools }, index) => {
      if (tools?.length !== 0) return [];
      return [
        `${writePath(["agents", name, "toolsets", index])}: \`tools\` is empty, so it has none`,
      ];
    }),
  );
}

function findBeaten({ permissions }: TeamFile): string[] {
  const deny = permissions?.deny ?? [];
  return [...(permissions?.allow ?? []), ...(permissions?.ask ?? [])]
    .filter((pattern) => deny.includes(pattern))
    .map((pattern) => `permissions: \`${pattern}\` is denied too, and deny wins`);
}
