import type { AgentDefinition, Team, ToolsetConfig } from "#agent/team/team.ts";
import { createToolset, type ToolsetDeps } from "#agent/toolsets/create-toolset.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";

/** The agents that can change nothing: neither by their own tools nor by agents that they send out or hand over to. */
export function findReadOnlyAgents(team: Team): ReadonlySet<string> {
  const reads = new Set(
    team.agents.filter((agent) => agent.toolsets.every(onlyReads)).map(({ name }) => name),
  );
  const leadsAstray = ({ sub_agents, handoffs }: AgentDefinition) =>
    [...sub_agents, ...handoffs].some((name) => !reads.has(name));
  // Each round takes at least one out, so it ends.
  for (;;) {
    const wrong = team.agents.find((agent) => reads.has(agent.name) && leadsAstray(agent));
    if (wrong === undefined) return reads;
    reads.delete(wrong.name);
  }
}

/** What their tools are is known before they start. */
const LISTED: readonly ToolsetConfig["type"][] = [
  "filesystem",
  "fetch",
  "think",
  "todo",
  "user_prompt",
];

function onlyReads(config: ToolsetConfig): boolean {
  if (!LISTED.includes(config.type)) return false;
  return createToolset(config, nothing)
    .tools()
    .every(({ hints }) => hints.read_only);
}

const unused = () => {
  throw new Error("a toolset that is only looked at does nothing");
};

/** Nothing is called, so nothing is needed. */
const nothing: ToolsetDeps = {
  work_dir: "/",
  env: {},
  home: "/",
  clock: systemClock,
  log: silentLogger,
  version: "",
  // As above.
  tools: {} as ToolsetDeps["tools"],
  hasTool: unused,
  memory: { add: unused, search: unused, list: unused, count: unused, remove: unused },
  restored: undefined,
};
