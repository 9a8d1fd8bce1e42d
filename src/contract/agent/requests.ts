import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { ApprovalDecision, ElicitationAction, ElicitationContent } from "./events.ts";
import { Framing, SentMessages } from "./message.ts";
import { AgentSpec, Permissions, SafetyMode } from "./spec.ts";
import { ModelCard, PromptCard, SkillCard, ToolCard, ToolsetStatus } from "./views.ts";

const Key = z.string().min(1).max(limits.label_chars);
const Name = z.string().min(1).max(limits.name_chars);

export const IdempotencyKey = Key.optional();
const Done = z.strictObject({});
/** `position` counts from 1; 0 = it started a turn at once. */
export const Queued = z.strictObject({
  status: z.enum(["started", "queued", "duplicate"]),
  turn_id: z.string().optional(),
  position: z.int().optional(),
});
export type Queued = z.infer<typeof Queued>;

export const Steer = z.strictObject({
  messages: SentMessages,
  framing: Framing.optional(),
  idempotency_key: IdempotencyKey,
});
export const FollowUp = z.strictObject({ messages: SentMessages, idempotency_key: IdempotencyKey });
export const Resume = z.strictObject({
  approval_id: Name,
  decision: ApprovalDecision,
  reason: z.string().max(limits.detail_chars).optional(),
  /** With `approve_tool`: which pattern to allow from now on; absent = the tool that was asked for. */
  tool_name: z.string().min(1).max(limits.permission_chars).optional(),
});
export const AnswerElicitation = z.strictObject({
  elicitation_id: Name,
  action: ElicitationAction,
  content: ElicitationContent.optional(),
});
export const Summarize = z.strictObject({
  instruction: z.string().max(limits.message_chars).optional(),
});
export const Compacted = z.strictObject({
  outcome: z.enum(["applied", "skipped", "failed"]),
  message: z.string().optional(),
});
export const SwitchAgent = z.strictObject({ name: Name });
/** An empty model clears what was chosen before. */
export const ChooseModel = z.strictObject({
  agent: Name.optional(),
  model: z.string().max(limits.name_chars),
});
export const ChangePermissions = z.strictObject({
  ...Permissions.shape,
  safety: SafetyMode.optional(),
});
export const RunPrompt = z.strictObject({
  name: Name,
  arguments: z.record(z.string(), z.string().max(limits.message_chars)).optional(),
});
export const RestartToolset = z.strictObject({ name: Name });

/** What one asks a worker: a line of JSON `{id, type, …}`, answered by `reply {id, result}` or `reply {id, error}`. */
export const workerRequests = {
  /** The first line. The keys of model providers are in it and nowhere else. */
  init: {
    input: z.strictObject({
      keys: z.record(z.string(), z.string()),
      /** Absent from the second life on: the log has it. */
      spec: AgentSpec.optional(),
    }),
    output: z.strictObject({ life: z.int(), agent: z.string() }),
  },
  messages: {
    input: z.strictObject({ messages: SentMessages, idempotency_key: IdempotencyKey }),
    output: Queued,
  },
  steer: { input: Steer, output: Queued },
  followup: { input: FollowUp, output: Queued },
  resume: { input: Resume, output: Done },
  elicitation: { input: AnswerElicitation, output: Done },
  interrupt: { input: z.strictObject({}), output: z.strictObject({ interrupted: z.boolean() }) },
  summarize: { input: Summarize, output: Compacted },
  agent: { input: SwitchAgent, output: Done },
  model: {
    input: z.strictObject({
      ...ChooseModel.shape,
      /** Of another provider than those that the first line had the keys of. */
      keys: z.record(z.string(), z.string()).optional(),
    }),
    output: Done,
  },
  permissions: { input: ChangePermissions, output: Done },
  tools: { input: z.strictObject({}), output: z.strictObject({ tools: z.array(ToolCard) }) },
  toolsets: {
    input: z.strictObject({}),
    output: z.strictObject({ toolsets: z.array(ToolsetStatus) }),
  },
  restart_toolset: { input: RestartToolset, output: ToolsetStatus },
  models: { input: z.strictObject({}), output: z.strictObject({ models: z.array(ModelCard) }) },
  prompts: { input: z.strictObject({}), output: z.strictObject({ prompts: z.array(PromptCard) }) },
  prompt: { input: RunPrompt, output: z.strictObject({ text: z.string() }) },
  skills: { input: z.strictObject({}), output: z.strictObject({ skills: z.array(SkillCard) }) },
} as const;

export type WorkerRequestType = keyof typeof workerRequests;
export type WorkerInput<T extends WorkerRequestType> = z.output<
  (typeof workerRequests)[T]["input"]
>;
export type WorkerOutput<T extends WorkerRequestType> = z.output<
  (typeof workerRequests)[T]["output"]
>;

/** An answer of the worker; it stands in the events log too, and is no event for anybody else. */
export const WorkerReply = z.strictObject({
  type: z.literal("reply"),
  id: z.string(),
  result: z.json().optional(),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.json()).optional(),
    })
    .optional(),
});
export type WorkerReply = z.infer<typeof WorkerReply>;
