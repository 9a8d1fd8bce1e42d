import { createFetchTool } from "#agent/fetch/fetch.ts";
import type { Lookup } from "#agent/fetch/http-get.ts";
import { createFileTools } from "#agent/files/filesystem.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { ToolOutcome, Toolset } from "#agent/toolset.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import type { MemoryStore } from "#contract/agent/memory.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { createFixedToolset } from "./fixed-toolset.ts";
import { createMcpToolset } from "./mcp.ts";
import { createMemoryToolset } from "./memory.ts";
import { createShellToolset } from "./shell.ts";
import { createTerminalToolset } from "./terminal.ts";
import { createThinkToolset } from "./think.ts";
import { createTodoToolset } from "./todo.ts";
import { createUserPromptToolset } from "./user-prompt.ts";

/** All that reaches a toolset from outside. */
export interface ToolsetDeps {
  readonly work_dir: string;
  /** Of programs that a toolset starts itself; no keys. */
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Of the host, for this agent. */
  readonly tools: Tools;
  /** Whether the agent has a tool of this name, from whichever toolset. */
  readonly hasTool: (name: string) => boolean;
  /** Of this team. */
  readonly memory: MemoryStore;
  /** How `fetch` finds addresses; absent = as the system does. */
  readonly lookup?: Lookup | undefined;
  /** What the toolset asked to remember, in an earlier life. */
  readonly restored: ToolOutcome["state"];
}

/** The tools of one entry of an agent's `toolsets`. */
export function createToolset(config: ToolsetConfig, deps: ToolsetDeps): Toolset {
  switch (config.type) {
    case "shell":
      return createShellToolset(config, deps);
    case "terminal":
      return createTerminalToolset(config, deps);
    case "filesystem":
      return createFixedToolset(config, {
        kind: "filesystem",
        tools: createFileTools(config, deps),
      });
    case "fetch":
      return createFixedToolset(config, { kind: "fetch", tools: [createFetchTool(config, deps)] });
    case "think":
      return createThinkToolset(config);
    case "todo":
      return createTodoToolset(config, deps);
    case "memory":
      return createMemoryToolset(config, deps);
    case "user_prompt":
      return createUserPromptToolset(config);
    case "mcp":
      return createMcpToolset(config, deps);
    case "background_agents":
      throw new Error("background agents are made by who runs the agent, not here");
  }
}
