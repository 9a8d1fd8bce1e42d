import * as z from "zod";
import { ApprovalDecision, ElicitationAction, ElicitationContent } from "#contract/agent/events.ts";
import { Framing, SentMessages } from "#contract/agent/message.ts";
import { Permissions, SafetyMode } from "#contract/agent/spec.ts";
import {
  ModelCard,
  PromptCard,
  SkillCard,
  ToolCard,
  ToolsetStatus,
} from "#contract/agent/views.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Done, type OperationSpec } from "./operation-spec.ts";

const bySession = { session_id: SessionId };
/** Faults of every request to a worker, which may have to be started for it. */
export const NO_AGENT = [
  "session_not_found",
  "already_exited",
  "unsupported",
  "invalid_request",
  "busy",
  "spawn_failed",
  "too_many",
  "disk_full",
] as const;
const read = { role: "viewer", answers: "json", runs: "owner" } as const;
const act = { role: "operator", answers: "json", runs: "owner" } as const;
const Name = z.string().min(1).max(limits.name_chars);

export const IdempotencyKey = z.string().min(1).max(limits.label_chars).optional();
/** `position` counts from 1; 0 = it started a turn at once. */
export const Queued = z.strictObject({
  status: z.enum(["started", "queued", "duplicate"]),
  turn_id: z.string().optional(),
  position: z.int().optional(),
});
export type Queued = z.infer<typeof Queued>;

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
const Compacted = z.strictObject({
  outcome: z.enum(["applied", "skipped", "failed"]),
  message: z.string().optional(),
});

/**
 * The operations that the worker of an agent session carries out. `worker` is the name of the request on the worker's
 * stdin; everything between the route and the worker follows from the row. To add a request: a row here, a handler in
 * `src/agent/worker/agent.ts`, a test.
 */
export const agentRequests = {
  "agent.send": {
    http: "POST /v1/sessions/:session_id/messages",
    summary: "Send messages, which start a turn.",
    ...act,
    status: 202,
    worker: "messages",
    input: z.strictObject({
      ...bySession,
      messages: SentMessages,
      idempotency_key: IdempotencyKey,
    }),
    output: Queued,
    faults: [...NO_AGENT],
  },
  "agent.steer": {
    http: "POST /v1/sessions/:session_id/steer",
    summary: "Say something to an agent in the middle of its turn.",
    ...act,
    status: 202,
    worker: "steer",
    input: z.strictObject({
      ...bySession,
      messages: SentMessages,
      framing: Framing.optional(),
      idempotency_key: IdempotencyKey,
    }),
    output: Queued,
    faults: [...NO_AGENT, "nothing_running", "queue_full"],
  },
  "agent.followup": {
    http: "POST /v1/sessions/:session_id/followup",
    summary: "Say what comes next: one message for each end of a turn.",
    ...act,
    status: 202,
    worker: "followup",
    input: z.strictObject({
      ...bySession,
      messages: SentMessages,
      idempotency_key: IdempotencyKey,
    }),
    output: Queued,
    faults: [...NO_AGENT, "queue_full"],
  },
  "agent.resume": {
    http: "POST /v1/sessions/:session_id/resume",
    summary: "Answer an agent that asks whether it may.",
    ...act,
    worker: "resume",
    input: z.strictObject({
      ...bySession,
      ...Resume.shape,
    }),
    output: Done,
    faults: [...NO_AGENT, "nothing_pending"],
  },
  "agent.elicitation": {
    http: "POST /v1/sessions/:session_id/elicitation",
    summary: "Answer an agent's question.",
    ...act,
    worker: "elicitation",
    input: z.strictObject({
      ...bySession,
      ...AnswerElicitation.shape,
    }),
    output: Done,
    faults: [...NO_AGENT, "nothing_pending"],
  },
  "agent.summarize": {
    http: "POST /v1/sessions/:session_id/summarize",
    summary: "Replace the older part of an agent's history by a summary.",
    ...act,
    worker: "summarize",
    input: z.strictObject({
      ...bySession,
      instruction: z.string().max(limits.message_chars).optional(),
    }),
    output: Compacted,
    faults: [...NO_AGENT, "model_failed"],
  },
  "agent.switch": {
    http: "PATCH /v1/sessions/:session_id/agent",
    summary: "Let another agent of the team go on.",
    ...act,
    worker: "agent",
    input: z.strictObject({
      ...bySession,
      name: Name,
    }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.model": {
    http: "PATCH /v1/sessions/:session_id/model",
    summary: "Choose another model for an agent; an empty one clears the choice.",
    ...act,
    worker: "model",
    input: z.strictObject({
      ...bySession,
      agent: Name.optional(),
      /** An empty model clears what was chosen before. */
      model: z.string().max(limits.name_chars),
    }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.permit": {
    http: "PATCH /v1/sessions/:session_id/permissions",
    summary: "Change what an agent may do in this session.",
    ...act,
    worker: "permissions",
    input: z.strictObject({
      ...bySession,
      ...Permissions.shape,
      safety: SafetyMode.optional(),
    }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.tools": {
    http: "GET /v1/sessions/:session_id/tools",
    summary: "List the tools of the current agent.",
    ...read,
    worker: "tools",
    input: z.strictObject(bySession),
    output: z.strictObject({ tools: z.array(ToolCard) }),
    faults: [...NO_AGENT],
  },
  "agent.toolsets": {
    http: "GET /v1/sessions/:session_id/toolsets",
    summary: "See how the current agent's toolsets are doing.",
    ...read,
    worker: "toolsets",
    input: z.strictObject(bySession),
    output: z.strictObject({ toolsets: z.array(ToolsetStatus) }),
    faults: [...NO_AGENT],
  },
  "agent.restart_toolset": {
    http: "POST /v1/sessions/:session_id/toolsets/:name/restart",
    summary: "Start a toolset anew.",
    ...act,
    worker: "restart_toolset",
    input: z.strictObject({
      ...bySession,
      name: Name,
    }),
    output: ToolsetStatus,
    faults: [...NO_AGENT],
  },
  "agent.models": {
    http: "GET /v1/sessions/:session_id/models",
    summary: "List the models that may be chosen.",
    ...read,
    worker: "models",
    input: z.strictObject(bySession),
    output: z.strictObject({ models: z.array(ModelCard) }),
    faults: [...NO_AGENT],
  },
  "agent.prompts": {
    http: "GET /v1/sessions/:session_id/prompts",
    summary: "List the prompts that MCP servers of the agent offer.",
    ...read,
    worker: "prompts",
    input: z.strictObject(bySession),
    output: z.strictObject({ prompts: z.array(PromptCard) }),
    faults: [...NO_AGENT],
  },
  "agent.prompt": {
    http: "POST /v1/sessions/:session_id/prompts/:name",
    summary: "Fill in a prompt of an MCP server.",
    ...act,
    worker: "prompt",
    input: z.strictObject({
      ...bySession,
      name: Name,
      arguments: z.record(z.string(), z.string().max(limits.message_chars)).optional(),
    }),
    output: z.strictObject({ text: z.string() }),
    faults: [...NO_AGENT],
  },
  "agent.skills": {
    http: "GET /v1/sessions/:session_id/skills",
    summary: "List the skills of the current agent.",
    ...read,
    worker: "skills",
    input: z.strictObject(bySession),
    output: z.strictObject({ skills: z.array(SkillCard) }),
    faults: [...NO_AGENT],
  },
} as const satisfies Record<string, OperationSpec & { readonly worker: string }>;
