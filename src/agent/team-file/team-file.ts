import * as z from "zod";
import { SafetyMode } from "#contract/agent/spec.ts";
import { limits } from "#contract/limits.ts";
import { ModelConfig, ProviderConfig } from "#model/config.ts";
import {
  Count,
  Duration,
  FilePath,
  HooksEntry,
  listOf,
  ModelName,
  Name,
  Text,
} from "./file-parts.ts";
import { ToolsetEntry } from "./toolset-entry.ts";

const TOOLSETS = 50;
const RETRIES = 10;

const CommandEntry = z.union([
  Text,
  z.strictObject({
    description: z.string().optional().describe("What it does, for people."),
    instruction: Text.describe(
      `What is sent; \`\${args}\` is all that follows the command, \`\${args[0]}\` its first word.`,
    ),
  }),
]);

const StructuredOutputEntry = z.strictObject({
  name: Name.describe("What the answer is called."),
  description: z.string().optional().describe("What the answer is for."),
  schema: z.record(z.string(), z.json()).describe("JSON Schema of the answer."),
  strict: z.boolean().optional().describe("Whether the provider must hold to it to the letter."),
});

const FallbackEntry = z.strictObject({
  models: listOf(Text).describe("Which models follow when the agent's own fails, in this order."),
  retries: Count.max(RETRIES)
    .optional()
    .describe("Attempts beyond the first with each model; 2 unless given."),
  cooldown: Duration.optional().describe(
    "How long a fallback stays in place of a model that refused; a minute unless given.",
  ),
});

export const AgentEntry = z.strictObject({
  model: Text.describe("`provider/model`, or a name of `models`."),
  description: z.string().optional().describe("What it is good at; others choose it by this."),
  instruction: z.string().optional().describe("Who it is and how it works: the system prompt."),
  welcome_message: z.string().optional().describe("Shown before the first message."),
  toolsets: z.array(ToolsetEntry).max(TOOLSETS).optional().describe("What it can do."),
  sub_agents: listOf(Text).optional().describe("Agents that it may give tasks to."),
  handoffs: listOf(Text).optional().describe("Agents that it may hand the conversation to."),
  commands: z
    .record(Name, CommandEntry)
    .optional()
    .describe("What `/name` stands for: a text, or a description and an instruction."),
  max_iterations: Count.optional().describe("Model calls in one turn before it asks; 0 = no end."),
  structured_output: StructuredOutputEntry.optional().describe("Makes the answer JSON."),
  prompt_files: z
    .array(FilePath)
    .max(limits.prompt_files)
    .optional()
    .describe("Files such as AGENTS.md that are added; the nearest upwards of the work dir."),
  add_date: z.boolean().optional().describe("Whether it is told today's date."),
  add_environment: z.boolean().optional().describe("Whether it is told work dir and system."),
  num_history_items: Count.optional().describe("How many messages it is sent; 0 = all."),
  fallback: FallbackEntry.optional().describe("What happens when the model fails."),
  hooks: HooksEntry.optional().describe("Commands that are run at its events."),
  skills: z
    .union([z.boolean(), listOf(FilePath)])
    .optional()
    .describe("true = skills of the usual folders; or the folders, relative to the team file."),
});
export type AgentEntry = z.output<typeof AgentEntry>;

const PatternList = z
  .array(z.string().min(1).max(limits.permission_chars))
  .max(limits.permission_patterns)
  .optional();

/** The file as people write it. What its names lead to is checked behind this. */
export const TeamFile = z.strictObject({
  version: z.union([z.string(), z.number()]).optional().describe("Of the format; 1."),
  agents: z
    .record(Name, AgentEntry)
    .describe("The agents by name. `root` starts, or else the first."),
  models: z
    .record(ModelName, ModelConfig)
    .optional()
    .describe("Models with settings, by the name that agents use."),
  providers: z
    .record(ModelName, ProviderConfig)
    .optional()
    .describe("Servers of models that are not built in, by name."),
  permissions: z
    .strictObject({
      allow: PatternList.describe("Calls that need no question."),
      ask: PatternList.describe("Calls that a person must approve."),
      deny: PatternList.describe("Calls that never happen; this wins over everything."),
    })
    .optional()
    .describe("Patterns of tool calls, such as `read_file` or `execute:command=git *`."),
  safety: SafetyMode.optional().describe(
    "Calls that no pattern names: strict asks, balanced asks unless it only reads, restricted denies unless it only reads, autonomous allows.",
  ),
  hooks: HooksEntry.optional().describe("Commands that are run at events of every agent."),
  limits: z
    .strictObject({
      max_cost: z.number().positive().optional().describe("US dollars."),
      max_tokens: z.int().positive().optional().describe("Tokens in and out."),
      max_time: Duration.optional().describe("Of work; waiting for people does not count."),
    })
    .optional()
    .describe("Where a session stops, sub-agents included."),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Whatever you like: author, license, readme. It is not read."),
});
export type TeamFile = z.output<typeof TeamFile>;
