import * as z from "zod";
import { SessionId } from "#contract/ids.ts";
import { ElicitationContent, QueuedMessage, TeamAgent } from "./events.ts";
import { TranscriptMessage, Usage } from "./message.ts";
import { ModelOverrides, Permissions, RunLimits, SafetyMode } from "./spec.ts";

export { ElicitationContent };

/** A question to a person. */
export const PendingApproval = z.strictObject({
  approval_id: z.string(),
  kind: z.enum(["tool", "max_iterations"]),
  call_id: z.string().optional(),
  tool: z.string().optional(),
  input: z.json().optional(),
  message: z.string(),
  agent: z.string().optional(),
  subagent_id: z.string().optional(),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

export const PendingElicitation = z.strictObject({
  elicitation_id: z.string(),
  call_id: z.string().optional(),
  message: z.string(),
  schema: z.record(z.string(), z.json()),
  agent: z.string().optional(),
  subagent_id: z.string().optional(),
});
export type PendingElicitation = z.infer<typeof PendingElicitation>;

export const AgentCard = z.strictObject({
  name: z.string(),
  description: z.string(),
  model: z.string(),
  welcome_message: z.string().optional(),
  context_limit: z.int().nullable(),
  commands: z.record(z.string(), z.string()),
});
export type AgentCard = z.infer<typeof AgentCard>;

export const QueueStatus = z.strictObject({
  steer: z.strictObject({ depth: z.int(), capacity: z.int() }),
  followup: z.strictObject({ depth: z.int(), capacity: z.int() }),
  waiting: z.array(QueuedMessage),
});
export type QueueStatus = z.infer<typeof QueueStatus>;

export const PermissionsView = z.strictObject({
  /** Of the team file. */
  team: Permissions,
  /** Of this session; they come first. */
  session: Permissions,
  safety: SafetyMode,
});
export type PermissionsView = z.infer<typeof PermissionsView>;

/** The whole state; what happened behind `events_tail` is in the events from there on. */
export const AgentSnapshot = z.strictObject({
  session_id: SessionId,
  title: z.string(),
  life: z.int(),
  /** Whether a turn runs, waits for an answer, or nothing is to be done. */
  activity: z.enum(["idle", "running", "waiting"]),
  turn_id: z.string().nullable(),
  /** The worker ended in the middle of something, and no later worker has cleared up yet; absent otherwise. */
  is_cut: z.literal(true).optional(),
  agent: z.string(),
  model: z.string(),
  welcome_message: z.string().optional(),
  model_overrides: ModelOverrides,
  default_agent: z.string(),
  agents: z.array(TeamAgent),
  team_name: z.string(),
  work_dir: z.string(),
  transcript: z.array(TranscriptMessage),
  /** Messages of the beginning that are not shown here; ask for them with `transcript`. */
  omitted_messages: z.int(),
  /** What the model is saying right now: the answer that has not ended. */
  partial: z
    .strictObject({
      message_id: z.string(),
      agent: z.string(),
      text: z.string(),
      reasoning: z.string(),
      /** Those that it has finished; they are made when the answer has ended. */
      tool_calls: z
        .array(z.strictObject({ call_id: z.string(), tool: z.string(), input: z.json() }))
        .optional(),
    })
    .nullable(),
  approvals: z.array(PendingApproval),
  elicitations: z.array(PendingElicitation),
  queue: QueueStatus,
  permissions: PermissionsView,
  limits: RunLimits,
  usage: Usage,
  context_tokens: z.int(),
  context_limit: z.int().nullable(),
  events_tail: z.int(),
});
export type AgentSnapshot = z.infer<typeof AgentSnapshot>;

export const Transcript = z.strictObject({
  title: z.string(),
  messages: z.array(TranscriptMessage),
  /** Of the first message that is listed, among all. */
  position: z.int(),
  total: z.int(),
});
export type Transcript = z.infer<typeof Transcript>;

export const ToolCard = z.strictObject({
  name: z.string(),
  toolset: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.json()),
  read_only: z.boolean(),
  destructive: z.boolean(),
});
export type ToolCard = z.infer<typeof ToolCard>;

export const ToolsetStatus = z.strictObject({
  name: z.string(),
  kind: z.string(),
  status: z.enum(["starting", "ready", "failed", "stopped"]),
  tools: z.int(),
  restartable: z.boolean(),
  message: z.string().optional(),
});
export type ToolsetStatus = z.infer<typeof ToolsetStatus>;

export const ModelCard = z.strictObject({
  /** As `provider/model`. */
  model: z.string(),
  /** The name in the team file, if it has one. */
  name: z.string().optional(),
  current: z.boolean(),
});
export type ModelCard = z.infer<typeof ModelCard>;

export const PromptCard = z.strictObject({
  name: z.string(),
  toolset: z.string(),
  description: z.string(),
  arguments: z.array(
    z.strictObject({ name: z.string(), description: z.string(), required: z.boolean() }),
  ),
});
export type PromptCard = z.infer<typeof PromptCard>;

export const SkillCard = z.strictObject({
  name: z.string(),
  description: z.string(),
  path: z.string(),
});
export type SkillCard = z.infer<typeof SkillCard>;

export const TeamSummary = z.strictObject({
  /** Names the text of the team: the same text has the same id. */
  team_id: z.string(),
  agent_names: z.array(z.string()),
  default_agent: z.string(),
  agents: z.array(TeamAgent),
  warnings: z.array(z.string()),
});
export type TeamSummary = z.infer<typeof TeamSummary>;
