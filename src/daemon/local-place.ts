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
import { openHost } from "#host/start-host.ts";
import { checkTrust } from "#host/trusted-files.ts";
import { withoutMarks } from "#proc/environment.ts";
import { openScreens } from "#screen/screens.ts";
import { openHostLink } from "#session/host-link.ts";
import { SessionFeeds } from "#session/session-feeds.ts";
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
  const link = stack.use(
    openHostLink(() => openHost({ dataDir: dir.path, command, env }), {
      connected: () => undefined,
      gone: () => undefined,
    }),
  );
  const feeds = new SessionFeeds(link, dir.sessions, {
    // Without a server, an agent that crashed is restarted by the command that looks at it.
    opened: (watch) => {
      const look = () => restarts.consider(watch.session);
      watch.on(look);
      look();
    },
  });
  const screens = stack.use(openScreens({ sessionsFolder: dir.sessions, feeds, clock }));
  const patterns = stack.use(openPatterns());
  const agents = createAgents({
    ...{ link, feeds, command, clock, dataDir: dir.path, keyEnv: env },
    parkAfterMs: config.agent_idle_ms,
    // Whoever is here may read whatever he can read.
    teams: { folder: join(dir.path, "teams"), named: config.teams ?? {}, roots: "*" },
  });
  const caller = { ...options.caller, env: withoutMarks(options.caller.env) };
  const restarts = new WorkerRestarts({
    feeds,
    agents,
    clock,
    log: silentLogger,
    launcher: caller,
  });
  stack.defer(() => restarts.settle());
  const door = createLocalDoor({
    ...createRuntimeOperations({ link, feeds, agents, places }, caller),
    ...createOutputOperations({ feeds, clock }, caller),
    ...createScreenOperations({ feeds, screens }, caller),
    ...createWaitOperations({ feeds, patterns, clock }, caller),
    ...createExportOperations({ feeds }, caller),
  });
  return {
    ...door,
    readTeam: (source) => agents.teams.load(source, caller).team,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
