import { findNearest } from "#base/nearest.ts";
import type { AgentEntry, TeamFile } from "./team-file.ts";
import type { Finding, Path } from "./team-problem.ts";
import { askWhether } from "./team-problem.ts";

type Agents = TeamFile["agents"];
type Relation = "sub_agents" | "handoffs";

/** Agents that name each other: everyone is there, nobody names itself, and tasks do not go in circles. */
export function checkAgents(agents: Agents): Finding[] {
  const entries = Object.entries(agents);
  if (entries.length === 0)
    return [
      { path: ["agents"], at_key: true, message: "`agents` is empty; a team has at least one" },
    ];
  const findings = entries.flatMap(([name, agent]) => [
    ...checkNames(name, "sub_agents", { agent, agents }),
    ...checkNames(name, "handoffs", { agent, agents }),
  ]);
  return [...findings, ...findCycles(agents)];
}

function checkNames(
  name: string,
  relation: Relation,
  { agent, agents }: { readonly agent: AgentEntry; readonly agents: Agents },
): Finding[] {
  const others = Object.keys(agents).filter((other) => other !== name);
  return (agent[relation] ?? []).flatMap((named, index, list) => {
    const path: Path = ["agents", name, relation, index];
    if (named === name) return [{ path, message: toItself(name, relation) }];
    if (list.indexOf(named) < index)
      return [{ path, message: `\`${named}\` is named twice in \`${relation}\`` }];
    if (Object.hasOwn(agents, named)) return [];
    const suggestion = findNearest(named, others);
    const advice = askWhether(suggestion) || `; known are ${Object.keys(agents).join(", ")}`;
    return [{ path, suggestion, message: `there is no agent \`${named}\`${advice}` }];
  });
}

function toItself(name: string, relation: Relation): string {
  if (relation === "handoffs") return `\`${name}\` cannot hand over to itself`;
  return `\`${name}\` cannot be its own sub-agent`;
}

/** Each circle once, at the name that closes it. */
function findCycles(agents: Agents): Finding[] {
  const done = new Set<string>();
  const findings: Finding[] = [];
  const visit = (name: string, above: readonly string[]) => {
    const trail = [...above, name];
    for (const [index, next] of (agents[name]?.sub_agents ?? []).entries()) {
      const start = trail.indexOf(next);
      if (start !== -1 && next !== name) {
        const circle = [...trail.slice(start), next].map((step) => `\`${step}\``).join(" → ");
        const path = ["agents", name, "sub_agents", index];
        findings.push({ path, message: `sub-agents go in a circle: ${circle}` });
      }
      if (start === -1 && !done.has(next) && Object.hasOwn(agents, next)) visit(next, trail);
    }
    done.add(name);
  };
  for (const name of Object.keys(agents)) if (!done.has(name)) visit(name, []);
  return findings;
}
