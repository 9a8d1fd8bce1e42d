import { createAgentRequest } from "./agent-request.ts";
import { findSource } from "./team-source.ts";

type RunTeamMcp = typeof import("#daemon/mcp/team-mcp.ts")["runTeamMcp"];
type Served = Omit<Parameters<RunTeamMcp>[0], "source" | "agents" | "request">;

/** `reins serve mcp TEAM`: each agent is a tool. */
export async function serveTeam(
  options: Served,
  { team, agents }: { readonly team: string; readonly agents: readonly string[] },
): Promise<void> {
  const { runTeamMcp } = await import("#daemon/mcp/team-mcp.ts");
  const source = findSource(team, { isRemote: false });
  const same = { models: {}, promptFiles: [], workingDir: process.cwd(), isRemote: false };
  const unsaid = { safety: undefined, name: undefined, title: undefined };
  await runTeamMcp({
    ...options,
    ...{ source, agents },
    request: (choice) => createAgentRequest({ ...same, ...unsaid, ...choice }),
  });
}
