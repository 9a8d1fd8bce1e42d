import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { openEmbeddedAgents } from "#agent/embedded/embedded-operations.ts";
import { withoutKeys } from "#app/agent/keys.ts";
import { systemClock } from "#base/clock.ts";
import { type Logger, silentLogger } from "#base/logger.ts";
import { findOwnPackage } from "#base/own-package.ts";
import { randomId } from "#base/random-id.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { RuntimeBackend } from "#contract/runtime/runtime.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { chooseDataDir, openDataDir } from "#host/data-dir.ts";
import { withoutMarks } from "#proc/environment.ts";
import { createLazyMemories } from "./lazy-memories.ts";
import { createLazyTools, createUnsupportedTools } from "./lazy-tools.ts";
import { createCallsOf } from "./own-calls.ts";

export type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";

export interface EmbeddedOptions {
  /** Where agents work, and what the paths of teams are relative to. Absent = where this process is. */
  readonly work_dir?: string;
  /** Of model providers, by the variable that would hold each: `{ OPENAI_API_KEY: "…" }`. Nothing else is looked at. */
  readonly keys?: Readonly<Record<string, string>>;
  /** What the children of agents start from, such as `process.env`; what is a key is left out. Absent = nothing. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where teams keep what they remember, and where the host is. Absent = where `reins` keeps its own. */
  readonly data_dir?: string;
  /**
   * Where commands and terminals run: `host` is the host of `data_dir`, started when there is none. Absent = `none`, and
   * their tools answer `unsupported`. All agents of one backend see each other's processes.
   */
  readonly tools?: "host" | "none";
  /** Absent = silence. */
  readonly log?: Logger;
  /** For the requests to model providers. Absent = the network. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * What `reins/embedded` is: agents in this very process. Their sessions live as long as the process does and are ended
 * by disposing; what a team remembers stays.
 */
export function openEmbedded(options: EmbeddedOptions = {}): RuntimeBackend & AsyncDisposable {
  const { keys = {}, log = silentLogger, fetch } = options;
  const stack = new AsyncDisposableStack();
  const work_dir = resolve(options.work_dir ?? ".");
  const dataDir = resolve(options.data_dir ?? chooseDataDir(options.env ?? {}));
  const env = withoutKeys(withoutMarks(options.env ?? {}), { names: Object.keys(keys), keys });
  const tooling: HostTools = { work_dir, dataDir, env, log };
  const agents = openEmbeddedAgents({
    work_dir,
    keys,
    ports: {
      clock: systemClock,
      log,
      version: findOwnPackage()?.version ?? "unknown",
      tools: options.tools === "host" ? openHostTools(tooling, stack) : noTools,
      openMemory: createLazyMemories({
        locate: () => join(openDataDir(dataDir).path, "memory.db"),
        log,
        stack,
      }),
      home: env.HOME ?? homedir(),
      env,
      fetch,
    },
  });
  return {
    ...createBackend(createCallsOf(agents.operations)),
    [Symbol.asyncDispose]: async () => {
      // Agents end before what they use, which was opened behind them.
      await agents[Symbol.asyncDispose]();
      await stack.disposeAsync();
    },
  };
}

interface HostTools {
  readonly work_dir: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
}

const noTools = createUnsupportedTools(
  'this agent is embedded without a host, so it runs no commands; open it with tools: "host"',
);

function openHostTools(
  { work_dir, dataDir, env, log }: HostTools,
  stack: AsyncDisposableStack,
): Tools {
  return createLazyTools(async () => {
    const { openToolDeps } = await import("./tool-deps.ts");
    const { createTools } = await import("#tools/tools.ts");
    const command = [process.execPath, join(findOwnPackage()?.path ?? ".", "bin", "reins")];
    const deps = openToolDeps({ dataDir, command, env, log }, stack);
    return createTools(deps, {
      user_id: undefined,
      token_id: undefined,
      role: "operator",
      workspaces: "*",
      workspace_id: LOCAL_WORKSPACE,
      // `reins` inside a command finds the same host.
      where: { env: { ...env, REINS_HOME: dataDir }, work_dir, umask: process.umask() },
      process_owner: randomId("embedded"),
    });
  });
}
