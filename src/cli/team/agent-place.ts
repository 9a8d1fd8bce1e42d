import { basename, resolve } from "node:path";
import type { SessionOperations } from "#app/session.ts";
import { readTeamFile } from "#app/team/team-file.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/context.ts";
import { openRemoteClient } from "#cli/place/remote.ts";
import { findTaskPlaces } from "#cli/place/task-places.ts";
import type { RuntimeBackend } from "#contract/agent/runtime.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { limits } from "#contract/limits.ts";
import { isFile, isTeamFile } from "./team-word.ts";

/** Where agents are: behind the host of this machine, or behind a server. */
export interface AgentPlace extends Disposable {
  readonly backend: RuntimeBackend;
  readonly operations: Pick<SessionOperations, "session.list" | "session.get">;
  readonly isRemote: boolean;
  /** What a word that names a team means there. */
  readonly sourceOf: (team: string) => TeamSource;
}

/** With the task that a session is made for, if it is made for one. */
export async function openAgentPlace(
  remote: string | undefined,
  task?: string | undefined,
): Promise<AgentPlace> {
  return remote === undefined ? await openLocalPlace(task) : await openRemotePlace(remote);
}

async function openLocalPlace(task: string | undefined): Promise<AgentPlace> {
  const { openLocalAgents } = await import("#daemon/local-agents.ts");
  const agents = openLocalAgents({
    dataDir: findDataDir(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
    places: await findTaskPlaces(task),
  });
  return { ...agents, isRemote: false, sourceOf: findLocalSource };
}

/** A file, or else a name: of the folder `teams` and of config.yaml. */
export function findLocalSource(team: string): TeamSource {
  return isTeamPath(team) ? { kind: "path", path: resolve(team) } : { kind: "name", name: team };
}

async function openRemotePlace(remote: string): Promise<AgentPlace> {
  const [client, { openRemoteBackend }] = await Promise.all([
    openRemoteClient(remote),
    import("#client/runtime.ts"),
  ]);
  return {
    backend: openRemoteBackend(client),
    operations: {
      "session.list": (input) => client.call("session.list", input),
      "session.get": (input) => client.call("session.get", input),
    },
    isRemote: true,
    sourceOf: readSource,
    [Symbol.dispose]: () => undefined,
  };
}

/** The server does not see our files: it is sent the text. */
function readSource(team: string): TeamSource {
  if (!isTeamPath(team)) return { kind: "name", name: team };
  const yaml = readTeamFile(resolve(team));
  return { kind: "inline", yaml, name: basename(team).slice(0, limits.name_chars) };
}

function isTeamPath(team: string): boolean {
  return isTeamFile(team) || team.includes("/") || isFile(team);
}
