import { join } from "node:path";
import type { Team } from "#agent/team/team.ts";
import { createAgents } from "#app/agent/agents.ts";
import { createLocalBackend } from "#app/agent/local-runtime.ts";
import type { Caller } from "#app/caller.ts";
import { openHostLink } from "#app/live/host-link.ts";
import { SessionFeeds } from "#app/live/session-feeds.ts";
import { createSessionOperations, type Places, type SessionOperations } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import type { RuntimeBackend } from "#contract/agent/runtime.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/start-host.ts";
import { withoutMarks } from "#proc/environment.ts";
import { readConfig } from "./config.ts";

export interface LocalAgentsOptions {
  readonly dataDir: string;
  /** How to run `reins`, for the host and the workers. */
  readonly command: readonly string[];
  /** Where the keys of model providers are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user of this machine, and where he is. */
  readonly caller: Caller;
  /** Absent: workspaces are the server's; who is here has been let in. */
  readonly places?: Places | undefined;
}

export interface LocalAgents extends Disposable {
  readonly backend: RuntimeBackend;
  readonly operations: Pick<SessionOperations, "session.list" | "session.get">;
  /** All that is in a team, and not only what a chooser is told. */
  readonly readTeam: (source: TeamSource) => Team;
}

/** Agents of this machine without a server. The host is started by the first who needs it; to look at a team needs none. */
export function openLocalAgents(options: LocalAgentsOptions): LocalAgents {
  const { command, env } = options;
  const dir = locateDataDir(options.dataDir);
  const config = readConfig(join(dir.path, "config.yaml"));
  const link = openHostLink(() => openHost({ dataDir: dir.path, command, env }), {
    connected: () => undefined,
    gone: () => undefined,
  });
  const feeds = new SessionFeeds(link, dir.sessions);
  const agents = createAgents({
    ...{ link, feeds, command, clock: systemClock },
    dataDir: dir.path,
    keyEnv: env,
    // Whoever is here may read whatever he can read.
    teams: { folder: join(dir.path, "teams"), named: config.teams ?? {}, roots: "*" },
  });
  const places = options.places ?? { hasWorkspace: () => true, findTask: () => undefined };
  const caller = { ...options.caller, env: withoutMarks(options.caller.env) };
  return {
    backend: createLocalBackend({ link, feeds, agents, places }, caller),
    operations: createSessionOperations({ link, places }, caller),
    readTeam: (source) => agents.teams.load(source, caller).team,
    [Symbol.dispose]: () => link[Symbol.dispose](),
  };
}
