import { join } from "node:path";
import { openPatterns } from "#app/read/patterns.ts";
import { localPlaces } from "#app/session.ts";
import type { ToolDeps } from "#app/tools.ts";
import { systemClock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/start-host.ts";
import { openScreens } from "#screen/screens.ts";
import { type HostLink, openHostLink } from "#session/host-link.ts";
import { SessionFeeds } from "#session/session-feeds.ts";
import { readConfig } from "./config.ts";

export interface ToolDepsOptions {
  readonly dataDir: string;
  /** How to run `reins`, for the host that may have to be started. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** How soon after a host has gone the next is asked for what somebody waits for. */
const RECONNECT_MS = 250;
const LINGER_MS = 2000;

/** What the tools for models need, in a process that speaks to the host of this machine itself. */
export function openToolDeps(options: ToolDepsOptions, stack: AsyncDisposableStack): ToolDeps {
  const dir = openDataDir(options.dataDir);
  const { command, env, log } = options;
  const clock = systemClock;
  let reconnect: Disposable | undefined;
  stack.defer(() => reconnect?.[Symbol.dispose]());
  const link: HostLink & Disposable = stack.use(
    openHostLink(() => openHost({ dataDir: dir.path, command, env }), {
      connected: () => undefined,
      gone: () => {
        log.warn("the host has gone");
        reconnect = clock.timer(RECONNECT_MS, () => {
          if (feeds.size === 0) return;
          void link.connect().catch((error: unknown) => log.error("no host answers", { error }));
        });
      },
    }),
  );
  const feeds = new SessionFeeds(link, dir.sessions, { linger: { clock, ms: LINGER_MS } });
  return {
    link,
    feeds,
    screens: stack.use(openScreens({ sessionsFolder: dir.sessions, feeds, clock })),
    patterns: stack.use(openPatterns()),
    clock,
    places: localPlaces,
    requireWorkdir: false,
    defaultWaitMs:
      readConfig(join(dir.path, "config.yaml")).execute_wait_ms ?? limits.execute_wait_ms,
  };
}
