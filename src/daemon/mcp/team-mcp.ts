import type { Writable } from "node:stream";
import { systemClock } from "#base/clock.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import type { TeamSummary } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { OwnClientOptions } from "#daemon/own/own-client.ts";
import { createStderrLogger } from "#daemon/stderr-logger.ts";
import { runMcpStdio, type StdioStreams } from "#mcp/stdio.ts";
import type { ServedAgent, TeamServerDeps } from "#mcp/team/agent-tool.ts";
import { createTeamServer } from "#mcp/team/team-server.ts";
import { findReadOnlyAgents } from "./read-only-agents.ts";

interface TeamMcpOptions extends StdioStreams, OwnClientOptions {
  readonly stderr: Writable;
  readonly version: string;
  readonly source: TeamSource;
  /** Those that are served; none = all of the team. */
  readonly agents: readonly string[];
  readonly request: TeamServerDeps["request"];
  /** Ends it, as the end of stdin does. */
  readonly signal: AbortSignal;
}

/** Clients take names up to here. */
const TOOL_NAME_CHARS = 64;

/** Serves a team's agents as tools to one client on stdio. Their sessions go on when it ends. */
export async function runTeamMcp(options: TeamMcpOptions): Promise<void> {
  const { version, signal, source } = options;
  const log = createStderrLogger(options.stderr);
  const { openOwnClient } = await import("#daemon/own/own-client.ts");
  await using client = await openOwnClient(options);
  const backend = createBackend(client);
  const team = await backend.load({ source });
  const agents = chooseAgents(team, options, findReadOnlyAgents(await client.readTeam(source)));
  const deps = {
    backend,
    team,
    agents,
    request: options.request,
    version,
    clock: systemClock,
    log,
  };
  await runMcpStdio({ createServer: () => createTeamServer(deps), log, signal }, options);
}

function chooseAgents(
  team: TeamSummary,
  { agents: named }: Pick<TeamMcpOptions, "agents">,
  readOnly: ReadonlySet<string>,
): ServedAgent[] {
  const unknown = named.find((name) => !team.agent_names.includes(name));
  if (unknown !== undefined)
    throw new Fault(
      "invalid_request",
      `--agent: the team has no agent ${JSON.stringify(unknown)}; it has ${team.agent_names.join(", ")}`,
    );
  const taken = new Set<string>();
  return team.agents
    .filter(({ name }) => named.length === 0 || named.includes(name))
    .map(({ name, description }) => {
      const tool = chooseToolName(name, taken);
      taken.add(tool);
      return { name, tool, description, isReadOnly: readOnly.has(name) };
    });
}

/** The agent's name as far as a tool may be called so; a number keeps two apart that would be called the same. */
export function chooseToolName(agent: string, taken: ReadonlySet<string>): string {
  const safe = agent.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, TOOL_NAME_CHARS);
  for (let number = 2, name = safe; ; number += 1) {
    if (!taken.has(name)) return name;
    const end = `_${number}`;
    name = `${safe.slice(0, TOOL_NAME_CHARS - end.length)}${end}`;
  }
}
