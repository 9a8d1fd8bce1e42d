import { isAbsolute, resolve } from "node:path";
import type { HooksEntry } from "#agent/team-file/file-parts.ts";
import { findWarnings } from "#agent/team-file/find-warnings.ts";
import { parseMatcher } from "#agent/team-file/matcher.ts";
import type { AgentEntry, TeamFile } from "#agent/team-file/team-file.ts";
import type { McpEntry, ToolsetEntry } from "#agent/team-file/toolset-entry.ts";
import type { RunLimits } from "#contract/agent/spec.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import {
  type AgentDefinition,
  type CommandDefinition,
  type Hook,
  type Hooks,
  hookEvents,
  type Team,
  type ToolsetConfig,
} from "./team.ts";

interface Origin {
  readonly team_id: string;
  readonly name: string;
  readonly base_dir: string;
}

/** A checked file with everything filled in that it left out. */
export function createTeam(file: TeamFile, { team_id, name, base_dir }: Origin): Team {
  const agents = Object.entries(file.agents).map(([agentName, entry]) =>
    createAgent(agentName, entry, base_dir),
  );
  const first = agents.find((agent) => agent.name === "root") ?? agents[0];
  return {
    team_id,
    name,
    agents,
    default_agent: first?.name ?? "",
    models: file.models ?? {},
    providers: file.providers ?? {},
    permissions: file.permissions ?? {},
    safety: file.safety,
    hooks: createHooks(file.hooks),
    limits: createLimits(file.limits),
    warnings: findWarnings(file),
  };
}

function createAgent(name: string, entry: AgentEntry, base_dir: string): AgentDefinition {
  const { structured_output: output, fallback, skills = false } = entry;
  return {
    name,
    model: entry.model,
    description: entry.description ?? "",
    instruction: entry.instruction ?? "",
    welcome_message: entry.welcome_message,
    toolsets: (entry.toolsets ?? []).map((toolset) => createToolset(toolset, base_dir)),
    sub_agents: entry.sub_agents ?? [],
    handoffs: entry.handoffs ?? [],
    commands: createCommands(entry.commands),
    max_iterations: entry.max_iterations ?? 0,
    structured_output: output && {
      name: output.name,
      description: output.description,
      schema: output.schema,
      strict: output.strict ?? false,
    },
    prompt_files: entry.prompt_files ?? [],
    add_date: entry.add_date ?? false,
    add_environment: entry.add_environment ?? false,
    num_history_items: entry.num_history_items ?? 0,
    fallback: {
      models: fallback?.models ?? [],
      retries: fallback?.retries,
      cooldown_ms: fallback?.cooldown,
    },
    hooks: createHooks(entry.hooks),
    skills: typeof skills === "boolean" ? skills : skills.map((path) => fromFile(path, base_dir)),
  };
}

function createCommands(entries: AgentEntry["commands"]): Record<string, CommandDefinition> {
  const commands = Object.entries(entries ?? {}).map(([name, entry]) => {
    if (typeof entry === "string") return [name, { description: "", instruction: entry }] as const;
    return [
      name,
      { description: entry.description ?? "", instruction: entry.instruction },
    ] as const;
  });
  return Object.fromEntries(commands);
}

function createToolset(entry: ToolsetEntry, base_dir: string): ToolsetConfig {
  const { name = entry.type, tools, instruction } = entry;
  const shared = { name, tools, instruction };
  switch (entry.type) {
    case "shell":
      return { ...shared, type: entry.type, timeout_ms: entry.timeout };
    case "filesystem": {
      const allow_paths = (entry.allow_paths ?? []).map((path) => fromFile(path, base_dir));
      return { ...shared, type: entry.type, allow_paths, read_only: entry.read_only ?? false };
    }
    case "fetch":
      return {
        ...shared,
        type: entry.type,
        allow_private: entry.allow_private ?? false,
        allow_hosts: entry.allow_hosts,
        timeout_ms: entry.timeout,
      };
    case "mcp":
      return { ...shared, type: entry.type, server: createServer(entry, base_dir) };
    default:
      return { ...shared, type: entry.type };
  }
}

type Server = Extract<ToolsetConfig, { type: "mcp" }>["server"];

function createServer(entry: McpEntry, base_dir: string): Server {
  if (entry.url !== undefined)
    return { kind: "http", url: entry.url, headers: entry.headers ?? {} };
  return {
    kind: "stdio",
    command: entry.command ?? "",
    args: entry.args ?? [],
    env: entry.env ?? {},
    work_dir: entry.work_dir === undefined ? undefined : fromFile(entry.work_dir, base_dir),
  };
}

/** What starts with `~/` is left: whose home it is, only who runs the team knows. */
function fromFile(path: string, base_dir: string): string {
  if (isAbsolute(path) || path === "~" || path.startsWith("~/")) return path;
  return resolve(base_dir, path);
}

function createHooks(entry: HooksEntry | undefined): Hooks {
  const hooks: Partial<Record<keyof HooksEntry, readonly Hook[]>> = {};
  for (const event of hookEvents) {
    const list: readonly {
      command: string;
      timeout?: number | undefined;
      matcher?: string | undefined;
    }[] = entry?.[event] ?? [];
    if (list.length > 0) hooks[event] = list.map((hook) => createHook(hook));
  }
  return hooks;
}

function createHook({
  command,
  timeout = limits.hook_ms,
  matcher,
}: {
  readonly command: string;
  readonly timeout?: number | undefined;
  readonly matcher?: string | undefined;
}): Hook {
  const parsed = parseMatcher(matcher);
  if (!parsed.ok) throw new Error(`an unchecked matcher: ${parsed.problem}`);
  return { command, matcher: parsed.matcher, timeout_ms: timeout };
}

function createLimits(entry: TeamFile["limits"]): RunLimits {
  const { max_cost, max_tokens, max_time } = entry ?? {};
  return {
    ...defined({ max_cost, max_tokens, max_time_ms: max_time }),
  };
}
