import { join } from "node:path";
import { openPatterns } from "#app/read/patterns.ts";
import { localPlaces } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/socket/start-host.ts";
import { openScreens } from "#screen/screens.ts";
import { LINGER_MS, openLocalHosts } from "#session/local-host.ts";
import type { ToolDeps } from "#tools/tools.ts";
import { readConfig } from "./config.ts";

interface ToolDepsOptions {
  readonly dataDir: string;
  /** How to run `reins`, for the host that may have to be started. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** What the tools for models need, in a process that speaks to the host of this machine itself. */
export function openToolDeps(options: ToolDepsOptions, stack: AsyncDisposableStack): ToolDeps {
  const dir = openDataDir(options.dataDir);
  const { command, env, log } = options;
  const clock = systemClock;
  const hosts = stack.use(
    openLocalHosts({
      open: () => openHost({ dataDir: dir.path, command, env }),
      sessionsFolder: dir.sessions,
      linger: { clock, ms: LINGER_MS },
      reconnect: { clock, log },
    }),
  );
  return {
    hosts,
    screens: stack.use(openScreens({ hosts, clock })),
    patterns: stack.use(openPatterns()),
    clock,
    places: localPlaces,
    requireWorkdir: false,
    defaultWaitMs:
      readConfig(join(dir.path, "config.yaml")).execute_wait_ms ?? limits.execute_wait_ms,
  };
}
