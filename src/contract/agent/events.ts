import * as z from "zod";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Framing, MessagePart, ProviderMetadata, StopReason, Usage } from "./message.ts";
import { AgentSpec, ModelOverrides, Permissions, SafetyMode } from "./spec.ts";

/**
 * What an agent's worker writes: one JSON object a line, in the session's events log between the host's own facts.
 * The log is the session's history: everything that a resume needs is in the events that end something; `*.delta`
 * are for who watches and may be skipped by who reads.
 *
 *   turn.started ( message.user | message.start delta* end | reasoning.start delta* end
 *                | tool.call.start delta* end | approval.* | elicitation.* | tool.output* tool.result | … )* turn.ended
 *
 * What a sub-agent does has its `subagent_id`; it is not part of the session's own conversation.
 */
const agentFact = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({
    type: z.literal(type),
    at: z.iso.datetime(),
    session_id: SessionId,
    /** Who acted. */
    agent: z.string().optional(),
    turn_id: z.string().optional(),
    subagent_id: z.string().optional(),
    ...shape,
  });

const message = { message_id: z.string() };
const call = { call_id: z.string() };
const metadata = { provider_metadata: ProviderMetadata.optional() };

export const TurnEndReason = z.enum(["done", "interrupted", "error", "limit", "loop", "budget"]);
export type TurnEndReason = z.infer<typeof TurnEndReason>;

export const ApprovalDecision = z.enum(["approve", "approve_tool", "approve_session", "reject"]);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ElicitationAction = z.enum(["accept", "decline", "cancel"]);
export type ElicitationAction = z.infer<typeof ElicitationAction>;

export const ElicitationContent = z.record(z.string().max(limits.name_chars), z.json());

/** A message that waits for its moment. */
export const QueuedMessage = z.strictObject({
  queue_id: z.string(),
  kind: z.enum(["steer", "followup"]),
  content: z.array(MessagePart),
  framing: Framing.optional(),
  idempotency_key: z.string().optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

export const TeamAgent = z.strictObject({
  name: z.string(),
  description: z.string(),
  model: z.string(),
  commands: z.record(z.string(), z.string()),
  sub_agents: z.array(z.string()),
  handoffs: z.array(z.string()),
});
export type TeamAgent = z.infer<typeof TeamAgent>;

export const AgentEvent = z.discriminatedUnion("type", [
  /** First of the first life, and again when the spec was changed by a fork. */
  agentFact("team.info", {
    name: z.string(),
    default_agent: z.string(),
    agents: z.array(TeamAgent),
    /** Of the team file. */
    permissions: Permissions.optional(),
    spec: AgentSpec,
  }),
  /** The current agent, at the start of each life and whenever it or its model changes. */
  agentFact("agent.info", {
    name: z.string(),
    model: z.string(),
    description: z.string(),
    welcome_message: z.string().optional(),
    context_limit: z.int().nullable(),
    /** Models that were chosen instead of the file's. */
    model_overrides: ModelOverrides,
  }),
  agentFact("agent.switched", {
    from: z.string(),
    to: z.string(),
    by: z.enum(["user", "handoff"]),
  }),
  agentFact("tools.changed", {
    toolset: z.string(),
    status: z.enum(["starting", "ready", "failed", "stopped"]),
    tools: z.array(z.string()),
    message: z.string().optional(),
  }),
  agentFact("permissions.changed", { permissions: Permissions, safety: SafetyMode }),
  agentFact("turn.started", {}),
  agentFact("message.user", {
    ...message,
    content: z.array(MessagePart),
    origin: z.enum(["message", "steer", "followup", "system"]),
    framing: Framing.optional(),
    queue_id: z.string().optional(),
    idempotency_key: z.string().optional(),
  }),
  agentFact("message.start", { ...message, model: z.string() }),
  agentFact("message.delta", { ...message, text: z.string() }),
  /** The whole answer; its reasoning and its calls have ended before. */
  agentFact("message.end", {
    ...message,
    model: z.string(),
    text: z.string(),
    stop_reason: StopReason,
    interrupted: z.boolean().optional(),
    ...metadata,
  }),
  agentFact("reasoning.start", { ...message, reasoning_id: z.string() }),
  agentFact("reasoning.delta", { ...message, reasoning_id: z.string(), text: z.string() }),
  agentFact("reasoning.end", {
    ...message,
    reasoning_id: z.string(),
    text: z.string(),
    ...metadata,
  }),
  agentFact("tool.call.start", { ...message, ...call, tool: z.string() }),
  agentFact("tool.call.delta", { ...message, ...call, text: z.string() }),
  agentFact("tool.call.end", {
    ...message,
    ...call,
    tool: z.string(),
    input: z.json(),
    ...metadata,
  }),
  /** What a tool says while it works. */
  agentFact("tool.output", { ...call, tool: z.string(), text: z.string() }),
  agentFact("tool.result", {
    ...call,
    tool: z.string(),
    output: z.string(),
    is_error: z.boolean(),
    images: z.array(MessagePart).optional(),
    /** What the tool's toolset is to remember across lives; replaces what it said before. */
    state: z.json().optional(),
  }),
  agentFact("approval.requested", {
    approval_id: z.string(),
    kind: z.enum(["tool", "max_iterations"]),
    call_id: z.string().optional(),
    tool: z.string().optional(),
    input: z.json().optional(),
    message: z.string(),
  }),
  agentFact("approval.resolved", {
    approval_id: z.string(),
    decision: ApprovalDecision,
    reason: z.string().optional(),
    by: z.enum(["user", "interrupt", "headless"]),
  }),
  agentFact("elicitation.requested", {
    elicitation_id: z.string(),
    call_id: z.string().optional(),
    message: z.string(),
    /** JSON Schema of a flat object. */
    schema: z.record(z.string(), z.json()),
  }),
  agentFact("elicitation.resolved", {
    elicitation_id: z.string(),
    action: ElicitationAction,
    content: ElicitationContent.optional(),
    by: z.enum(["user", "interrupt", "headless"]),
  }),
  agentFact("usage.updated", {
    model: z.string(),
    usage: Usage,
    /** Of the session, sub-agents included. */
    total: Usage,
    /** How much of the current agent's context is in use. */
    context_tokens: z.int(),
    context_limit: z.int().nullable(),
    /** How long the session has worked, waiting for people not counted. */
    active_ms: z.int().min(0),
  }),
  agentFact("model.fallback", {
    failed_model: z.string(),
    fallback_model: z.string(),
    reason: z.string(),
    attempt: z.int(),
  }),
  agentFact("compaction.started", { cause: z.enum(["context", "overflow", "request"]) }),
  agentFact("compaction.ended", {
    outcome: z.enum(["applied", "skipped", "failed"]),
    /** Stands for everything before `kept_from`. */
    summary: z.string().optional(),
    /** The first message that is kept; absent = none is. */
    kept_from: z.string().optional(),
    message: z.string().optional(),
  }),
  agentFact("hook.started", { hook: z.string(), command: z.string() }),
  agentFact("hook.ended", {
    hook: z.string(),
    command: z.string(),
    duration_ms: z.int(),
    message: z.string().optional(),
  }),
  agentFact("hook.blocked", { hook: z.string(), command: z.string(), message: z.string() }),
  agentFact("subagent.started", {
    name: z.string(),
    task: z.string(),
    background: z.boolean(),
    call_id: z.string().optional(),
  }),
  agentFact("subagent.ended", {
    name: z.string(),
    outcome: z.enum(["done", "failed", "stopped"]),
    text: z.string(),
  }),
  agentFact("queue.changed", {
    steer: z.int(),
    followup: z.int(),
    added: QueuedMessage.optional(),
    removed: z.array(z.string()).optional(),
  }),
  agentFact("limit.reached", {
    limit: z.enum(["max_iterations", "max_cost", "max_tokens", "max_time", "identical_calls"]),
    message: z.string(),
  }),
  agentFact("warning", { code: z.string(), message: z.string() }),
  agentFact("error", { code: z.string(), message: z.string() }),
  /** Exactly one a turn, on every path. */
  agentFact("turn.ended", { reason: TurnEndReason, message: z.string().optional() }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
type AgentEventType = AgentEvent["type"];
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { type: T }>;

/** An event without what the agent adds to every one. */
export type AgentEventBody = AgentEvent extends infer E
  ? E extends AgentEvent
    ? Omit<E, "at" | "session_id">
    : never
  : never;

export const agentEventTypes = AgentEvent.options.map((option) => option.shape.type.value);
