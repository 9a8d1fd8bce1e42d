import { join } from "node:path";
import type { Team } from "#agent/team/team.ts";
import { createAgents } from "#app/agent/agents.ts";
import { createRuntimeOperations } from "#app/agent/runtime-operations.ts";
import type { Caller } from "#app/caller.ts";
import { createExportOperations } from "#app/export/export.ts";
import { createLocalDoor, type LocalDoor } from "#app/local-door.ts";
import { createOutputOperations } from "#app/read/output.ts";
import { openPatterns } from "#app/read/patterns.ts";
import { createScreenOperations } from "#app/read/screen.ts";
import { createWaitOperations } from "#app/read/wait.ts";
import { WorkerRestarts } from "#app/restart/worker-restarts.ts";
import { localPlaces, type Places } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/socket/start-host.ts";
import { checkTrust } from "#host/trusted-files.ts";
import { withoutMarks } from "#proc/environment.ts";
import { openScreens } from "#screen/screens.ts";
import { openLocalHosts } from "#session/local-host.ts";
import { readConfig } from "./config.ts";

export interface LocalPlaceOptions {
  readonly dataDir: string;
  /** How to run `reins`, for the host and the workers. */
  readonly command: readonly string[];
  /** Where the keys of model providers are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user of this machine, and where he is. */
  readonly caller: Caller;
  /** Absent = `localPlaces`. */
  readonly places?: Places | undefined;
}

export interface LocalPlace extends LocalDoor, AsyncDisposable {
  /** All that is in a team, and not only what a chooser is told. */
  readonly readTeam: (source: TeamSource) => Team;
}

/** Everything of this machine without a server. The host is started by the first call that needs it. */
export function openLocalPlace(options: LocalPlaceOptions): LocalPlace {
  const { command, env, places = localPlaces } = options;
  const stack = new AsyncDisposableStack();
  const dir = locateDataDir(options.dataDir);
  checkTrust(dir.path);
  const config = readConfig(join(dir.path, "config.yaml"));
  const clock = systemClock;
  const hosts = stack.use(
    openLocalHosts({
      open: () => openHost({ dataDir: dir.path, command, env }),
      sessionsFolder: dir.sessions,
      // Without a server, an agent that crashed is restarted by the command that looks at it.
      opened: (handle) => {
        const look = () => restarts.consider(handle.session);
        handle.on(look);
        look();
      },
    }),
  );
  const screens = stack.use(openScreens({ hosts, clock }));
  const patterns = stack.use(openPatterns());
  const agents = createAgents({
    ...{ hosts, command, clock, dataDir: dir.path, keyEnv: env },
    parkAfterMs: config.agent_idle_ms,
    // Whoever is here may read whatever he can read.
    teams: { folder: join(dir.path, "teams"), named: config.teams ?? {}, roots: "*" },
  });
  const caller = {
    ...options.caller,
    where: { ...options.caller.where, env: withoutMarks(options.caller.where.env) },
  };
  const restarts = new WorkerRestarts({
    hosts,
    agents,
    clock,
    log: silentLogger,
    launcher: caller.where,
  });
  stack.defer(() => restarts.settle());
  const door = createLocalDoor({
    ...createRuntimeOperations({ hosts, agents, places }, caller),
    ...createOutputOperations({ hosts, clock }, caller),
    ...createScreenOperations({ hosts, screens }, caller),
    ...createWaitOperations({ hosts, patterns, clock }, caller),
    ...createExportOperations({ hosts }, caller),
  });
  return {
    ...door,
    readTeam: (source) => agents.teams.load(source, caller).team,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
