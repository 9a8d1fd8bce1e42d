import { fileURLToPath } from "node:url";
import type { McpConfig, McpDeps } from "#agent/mcp/server.ts";
import type { Toolset } from "#agent/toolset.ts";
import { createMcpToolset } from "#agent/toolsets/mcp.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { defined } from "#contract/values/defined.ts";
import { type CallToolset, callerOf } from "./tool-context.ts";

export interface McpSetting extends Partial<McpDeps> {
  readonly name?: string;
  readonly tools?: readonly string[];
  readonly server: McpConfig["server"];
}

export interface TestMcp extends AsyncDisposable {
  readonly toolset: Toolset;
  readonly call: CallToolset;
  /** The state after each change so far. */
  readonly states: readonly string[];
  names(): string[];
}

/** A toolset that was not started. */
export function openMcpToolset({ name = "mcp", tools, server, ...deps }: McpSetting): TestMcp {
  const config: McpConfig = { type: "mcp", name, tools, instruction: undefined, server };
  const toolset = createMcpToolset(config, {
    env: { PATH: pathOf() },
    work_dir: process.cwd(),
    clock: systemClock,
    log: silentLogger,
    version: "1",
    ...deps,
  });
  const states: string[] = [];
  toolset.onChanged(() => states.push(toolset.state));
  return {
    toolset,
    call: callerOf(toolset),
    states,
    names: () => toolset.tools().map((tool) => tool.name),
    [Symbol.asyncDispose]: () => toolset[Symbol.asyncDispose](),
  };
}

export async function startMcpToolset(setting: McpSetting): Promise<TestMcp> {
  const opened = openMcpToolset(setting);
  await opened.toolset.start();
  return opened;
}

type StdioServer = Extract<McpConfig["server"], { kind: "stdio" }>;

/** The test server, or the one by hand, as a child of the toolset. */
export function stdioServer(
  program: "mcp-server-stdio" | "mcp-server-raw",
  args: readonly string[] = [],
  more: Partial<StdioServer> = {},
): StdioServer {
  const file = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
  return {
    kind: "stdio",
    command: process.execPath,
    args: [file, ...args],
    env: compileCache(),
    work_dir: undefined,
    ...more,
  };
}

/** A server has only the variables that it is given; without this one it would compile its modules at every start. */
export function compileCache(): Record<string, string> {
  return defined({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE });
}

export function pathOf(): string {
  return process.env.PATH ?? "";
}
