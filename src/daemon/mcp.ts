import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Writable } from "node:stream";
import type { Caller } from "#app/caller.ts";
import { type HostLink, openHostLink } from "#app/live/host-link.ts";
import { SessionFeeds } from "#app/live/session-feeds.ts";
import { openPatterns } from "#app/read/patterns.ts";
import { openScreens } from "#app/screen/screens.ts";
import { createTools, type ToolDeps } from "#app/tools.ts";
import { systemClock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/start-host.ts";
import { runMcpStdio, type StdioStreams } from "#mcp/stdio.ts";
import { withoutMarks } from "#proc/environment.ts";
import { readConfig } from "./config.ts";

export interface McpOptions extends StdioStreams {
  readonly stderr: Writable;
  readonly dataDir: string;
  readonly version: string;
  /** How to run `reins`, for the host that it may have to start. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user of this machine, and where he is. */
  readonly caller: Caller;
  /** Whose processes are seen; absent = those of the client's name in this directory. */
  readonly owner: string | undefined;
  /** Ends it, as the end of stdin does. */
  readonly signal: AbortSignal;
}

/** How soon after a host has gone the next is asked for what somebody waits for. */
const RECONNECT_MS = 250;
const LINGER_MS = 2000;

/** Serves the tools for models to one client on stdio. What it has started goes on when it ends. */
export async function runMcp(options: McpOptions): Promise<void> {
  const { version, signal, owner } = options;
  if (owner !== undefined) checkOwner(owner);
  const log = createStderrLogger(options);
  await using stack = new AsyncDisposableStack();
  const deps = openToolDeps(options, { log, stack });
  // `reins` inside a command finds this host; the rest of our names is the host's to set.
  const env = { ...withoutMarks(options.env), REINS_HOME: options.dataDir };
  const caller = { ...options.caller, env };
  const tools = (client: string) =>
    createTools(deps, { ...caller, process_owner: owner ?? ownerOf(client, caller.work_dir) });
  await runMcpStdio({ tools, version, clock: systemClock, log, signal }, options);
}

interface Opening {
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
}

function openToolDeps(options: McpOptions, { log, stack }: Opening): ToolDeps {
  const dir = openDataDir(options.dataDir);
  const { command, env } = options;
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
  const feeds = new SessionFeeds(link, dir.sessions, { clock, ms: LINGER_MS });
  return {
    link,
    feeds,
    screens: stack.use(openScreens({ sessionsFolder: dir.sessions, feeds, clock })),
    patterns: stack.use(openPatterns()),
    clock,
    // Workspaces are the server's; here is one, and it is ours.
    places: { hasWorkspace: () => true, findTask: () => undefined },
    requireWorkdir: false,
    defaultWaitMs:
      readConfig(join(dir.path, "config.yaml")).execute_wait_ms ?? limits.execute_wait_ms,
    hasFileTool: false,
  };
}

/** The same client in the same directory is the same owner, also after a restart. */
function ownerOf(client: string, workDir: string): string {
  const owner = `mcp:${client}:${workDir}`;
  if (owner.length <= limits.label_chars) return owner;
  return `mcp:${createHash("sha256").update(owner).digest("hex")}`;
}

function checkOwner(owner: string): void {
  if (owner !== "" && owner.length <= limits.label_chars) return;
  throw new Fault("invalid_request", `--owner: a name has 1 to ${limits.label_chars} characters`);
}

/** Clients show what a server says there; stdout is the protocol's. */
function createStderrLogger({ stderr }: McpOptions): Logger {
  const say = (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
    const said = Object.entries(fields).map(([name, value]) => ` ${name}=${describe(value)}`);
    stderr.write(`reins: ${message}${said.join("")}\n`);
  };
  return { info: () => undefined, warn: say, error: say };
}

function describe(value: unknown): string {
  return value instanceof Error ? (value.stack ?? value.message) : String(value);
}
