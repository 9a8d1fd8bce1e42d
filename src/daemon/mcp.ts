import { createHash } from "node:crypto";
import type { Writable } from "node:stream";
import type { Caller } from "#app/caller.ts";
import { systemClock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { createMcpServer } from "#mcp/server.ts";
import { runMcpStdio, type StdioStreams } from "#mcp/stdio.ts";
import { withoutMarks } from "#proc/environment.ts";
import { createTools } from "#tools/tools.ts";
import { createStderrLogger } from "./stderr-logger.ts";
import { openToolDeps } from "./tool-deps.ts";

interface McpOptions extends StdioStreams {
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

/** Serves the tools for models to one client on stdio. What it has started goes on when it ends. */
export async function runMcp(options: McpOptions): Promise<void> {
  const { version, signal, owner } = options;
  if (owner !== undefined) checkOwner(owner);
  const log = createStderrLogger(options.stderr);
  await using stack = new AsyncDisposableStack();
  const deps = openToolDeps({ ...options, log }, stack);
  // `reins` inside a command finds this host; the rest of our names is the host's to set.
  const env = { ...withoutMarks(options.env), REINS_HOME: options.dataDir };
  const caller = { ...options.caller, env };
  const tools = (client: string) =>
    createTools(deps, {
      ...caller,
      process_owner: owner ?? ownerOf(client, caller.where.work_dir),
    });
  const served = { tools, version, clock: systemClock, log, signal };
  await runMcpStdio({ createServer: () => createMcpServer(served), log, signal }, options);
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
