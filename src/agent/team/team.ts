import type { Permissions, RunLimits, SafetyMode } from "#contract/agent/spec.ts";
import type { ModelConfig, ProviderConfig } from "#model/config.ts";
import type { JsonSchema } from "#model/model.ts";

/** A team file that was read, checked and filled in; every name in it leads somewhere. */
export interface Team {
  /** Names the text: the same text has the same id. */
  readonly team_id: string;
  /** How messages call it: the file's name. */
  readonly name: string;
  /** In the file's order. */
  readonly agents: readonly AgentDefinition[];
  /** `root`, or the first. */
  readonly default_agent: string;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly permissions: Permissions;
  readonly safety: SafetyMode | undefined;
  readonly hooks: Hooks;
  readonly limits: RunLimits;
  /** What is allowed but is likely a mistake. */
  readonly warnings: readonly string[];
}

export interface AgentDefinition {
  readonly name: string;
  /** `provider/model`, or a name of the team's models. */
  readonly model: string;
  readonly description: string;
  readonly instruction: string;
  readonly welcome_message: string | undefined;
  readonly toolsets: readonly ToolsetConfig[];
  readonly sub_agents: readonly string[];
  readonly handoffs: readonly string[];
  /** Name → what it stands for; `${args}` and `${args[0]}` are filled in. */
  readonly commands: Readonly<Record<string, CommandDefinition>>;
  /** 0 = as many as it takes. */
  readonly max_iterations: number;
  readonly structured_output: StructuredOutput | undefined;
  readonly prompt_files: readonly string[];
  readonly add_date: boolean;
  readonly add_environment: boolean;
  /** 0 = all. */
  readonly num_history_items: number;
  readonly fallback: {
    readonly models: readonly string[];
    readonly retries: number | undefined;
    readonly cooldown_ms: number | undefined;
  };
  readonly hooks: Hooks;
  /** True = those of the usual folders; a list = these folders; false = none. */
  readonly skills: boolean | readonly string[];
}

export interface CommandDefinition {
  readonly description: string;
  readonly instruction: string;
}

interface StructuredOutput {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonSchema;
  readonly strict: boolean;
}

interface ToolsetHead {
  /** Unique in its agent; the type unless the file says otherwise. */
  readonly name: string;
  /** Only these of its tools; absent = all. */
  readonly tools: readonly string[] | undefined;
  /** Added to the agent's instruction. */
  readonly instruction: string | undefined;
}

export type ToolsetConfig = ToolsetHead &
  (
    | { readonly type: "shell"; readonly timeout_ms: number | undefined }
    | { readonly type: "terminal" }
    | {
        readonly type: "filesystem";
        /** Folders besides the work dir that may be used. */
        readonly allow_paths: readonly string[];
        readonly read_only: boolean;
      }
    | {
        readonly type: "fetch";
        readonly allow_private: boolean;
        /** Hosts, with `*.` for what is below one; absent = all public ones. */
        readonly allow_hosts: readonly string[] | undefined;
        readonly timeout_ms: number | undefined;
      }
    | { readonly type: "think" }
    | { readonly type: "todo" }
    | { readonly type: "memory" }
    | { readonly type: "user_prompt" }
    | { readonly type: "background_agents" }
    | {
        readonly type: "mcp";
        readonly server:
          | {
              readonly kind: "stdio";
              readonly command: string;
              readonly args: readonly string[];
              readonly env: Readonly<Record<string, string>>;
              readonly work_dir: string | undefined;
            }
          | {
              readonly kind: "http";
              readonly url: string;
              readonly headers: Readonly<Record<string, string>>;
            };
      }
  );
export type ToolsetType = ToolsetConfig["type"];

export const hookEvents = [
  "session_start",
  "session_end",
  "on_user_input",
  "pre_tool_use",
  "post_tool_use",
  "stop",
] as const;
export type HookEvent = (typeof hookEvents)[number];

export interface Hook {
  /** A line for the shell. */
  readonly command: string;
  /** Of the tool's whole name; absent = every one. Only before and after a tool. */
  readonly matcher: RegExp | undefined;
  readonly timeout_ms: number;
}
export type Hooks = Readonly<Partial<Record<HookEvent, readonly Hook[]>>>;
