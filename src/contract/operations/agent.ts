import * as z from "zod";
import { AgentEvent } from "#contract/agent/events.ts";
import { SentMessages } from "#contract/agent/message.ts";
import {
  AnswerElicitation,
  ChangePermissions,
  ChooseModel,
  Compacted,
  FollowUp,
  IdempotencyKey,
  Queued,
  RestartToolset,
  Resume,
  RunPrompt,
  Steer,
  Summarize,
  SwitchAgent,
  workerRequests,
} from "#contract/agent/requests.ts";
import {
  ModelOverrides,
  Permissions,
  PromptFiles,
  RunLimits,
  SafetyMode,
  TeamSource,
} from "#contract/agent/spec.ts";
import {
  AgentSnapshot,
  PermissionsView,
  QueueStatus,
  TeamSummary,
  ToolsetStatus,
  Transcript,
} from "#contract/agent/views.ts";
import { SessionEvent } from "#contract/events.ts";
import { SessionId, TaskId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SystemText, Title } from "#contract/session.ts";
import { Done, ListPage, type OperationSpec } from "./operation-spec.ts";

const bySession = { session_id: SessionId };
/** Of what a worker is asked, which may have to be started again for it. */
const NO_AGENT = [
  "session_not_found",
  "already_exited",
  "unsupported",
  "invalid_request",
  "busy",
  "spawn_failed",
  "too_many",
  "disk_full",
] as const;
const read = { role: "viewer", answers: "json" } as const;
const act = { role: "operator", answers: "json" } as const;
const TeamId = z.string().regex(/^team_[0-9a-f]{32}$/, "a team id looks like team_ and 32 digits");

export const AgentCreate = z
  .strictObject({
    source: TeamSource.optional(),
    team_id: TeamId.optional(),
    agent_name: z.string().min(1).max(limits.name_chars).optional(),
    working_dir: SystemText.min(1).max(limits.path_bytes).optional(),
    /** Comes back to a session that is there: nothing else but keys is taken from the request. */
    resume_session_id: SessionId.optional(),
    permissions: Permissions.optional(),
    safety: SafetyMode.optional(),
    limits: RunLimits.optional(),
    model_overrides: ModelOverrides.optional(),
    prompt_files: PromptFiles.optional(),
    title: Title.optional(),
    workspace_id: WorkspaceId.optional(),
    task_id: TaskId.optional(),
    /** Nobody will answer: what would ask is denied at once. */
    headless: z.boolean().optional(),
    parent_session_id: SessionId.optional(),
    idempotency_key: z.string().min(1).max(limits.label_chars).optional(),
  })
  .refine((spec) => spec.source === undefined || spec.team_id === undefined, {
    message: "give source or team_id, not both",
    path: ["team_id"],
  });
export type AgentCreate = z.infer<typeof AgentCreate>;

/** Every event of an agent session: the worker's and the host's. */
export const AnyEvent = z.union([SessionEvent, AgentEvent]);
export type AnyEvent = z.infer<typeof AnyEvent>;

export const agentOperations = {
  "team.load": {
    http: "POST /v1/team/load",
    summary: "Check a team and say what is in it; creates nothing.",
    ...act,
    input: z.strictObject({
      source: TeamSource,
      model_overrides: ModelOverrides.optional(),
      prompt_files: PromptFiles.optional(),
      /** Where the agents would work: then the prompt files have to be there. */
      working_dir: SystemText.min(1).max(limits.path_bytes).optional(),
    }),
    output: TeamSummary,
    faults: ["team_invalid", "team_not_found", "forbidden", "invalid_request"],
  },
  "team.list": {
    http: "GET /v1/teams",
    summary:
      "List the teams that this server knows by name; the examples of Reins where it has none.",
    ...read,
    input: z.strictObject({ ...ListPage }),
    output: z.strictObject({
      teams: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          problem: z.string().optional(),
          /** It comes with Reins. */
          example: z.boolean().optional(),
        }),
      ),
      cursor: z.string().nullable(),
    }),
    faults: ["invalid_request"],
  },
  "agent.create": {
    http: "POST /v1/session/create",
    summary: "Start an agent session from a team, or come back to one.",
    ...act,
    input: AgentCreate,
    output: z.strictObject({ session_id: SessionId }),
    faults: [
      "team_invalid",
      "team_not_found",
      "forbidden",
      "invalid_request",
      "spawn_failed",
      "too_many",
      "disk_full",
      "unsupported_os",
      "session_not_found",
      "already_exited",
      "task_not_found",
      "workspace_not_found",
      "workspace_mismatch",
    ],
  },
  "agent.run": {
    http: "POST /v1/session/run",
    summary: "Send messages and follow the turn until it ends; it goes on when the stream is cut.",
    role: "operator",
    answers: "stream",
    input: z.strictObject({
      ...bySession,
      messages: SentMessages,
      idempotency_key: IdempotencyKey,
    }),
    output: AnyEvent,
    faults: [...NO_AGENT],
  },
  "agent.send": {
    http: "POST /v1/sessions/:session_id/messages",
    summary: "Send messages, which start a turn.",
    ...act,
    status: 202,
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
    input: z.strictObject({ ...bySession, ...Steer.shape }),
    output: Queued,
    faults: [...NO_AGENT, "nothing_running", "queue_full"],
  },
  "agent.followup": {
    http: "POST /v1/sessions/:session_id/followup",
    summary: "Say what comes next: one message for each end of a turn.",
    ...act,
    status: 202,
    input: z.strictObject({ ...bySession, ...FollowUp.shape }),
    output: Queued,
    faults: [...NO_AGENT, "queue_full"],
  },
  "agent.resume": {
    http: "POST /v1/sessions/:session_id/resume",
    summary: "Answer an agent that asks whether it may.",
    ...act,
    input: z.strictObject({ ...bySession, ...Resume.shape }),
    output: Done,
    faults: [...NO_AGENT, "nothing_pending"],
  },
  "agent.elicitation": {
    http: "POST /v1/sessions/:session_id/elicitation",
    summary: "Answer an agent's question.",
    ...act,
    input: z.strictObject({ ...bySession, ...AnswerElicitation.shape }),
    output: Done,
    faults: [...NO_AGENT, "nothing_pending"],
  },
  "agent.summarize": {
    http: "POST /v1/sessions/:session_id/summarize",
    summary: "Replace the older part of an agent's history by a summary.",
    ...act,
    input: z.strictObject({ ...bySession, ...Summarize.shape }),
    output: Compacted,
    faults: [...NO_AGENT, "model_failed"],
  },
  "agent.fork": {
    http: "POST /v1/sessions/:session_id/fork",
    summary: "Make a new session from the first messages of this one.",
    ...act,
    status: 201,
    input: z.strictObject({
      ...bySession,
      /** How many messages of the transcript the new session begins with. */
      at: z.int().min(0),
    }),
    output: z.strictObject({ session_id: SessionId }),
    faults: [...NO_AGENT],
  },
  "agent.switch": {
    http: "PATCH /v1/sessions/:session_id/agent",
    summary: "Let another agent of the team go on.",
    ...act,
    input: z.strictObject({ ...bySession, ...SwitchAgent.shape }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.model": {
    http: "PATCH /v1/sessions/:session_id/model",
    summary: "Choose another model for an agent; an empty one clears the choice.",
    ...act,
    input: z.strictObject({ ...bySession, ...ChooseModel.shape }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.permit": {
    http: "PATCH /v1/sessions/:session_id/permissions",
    summary: "Change what an agent may do in this session.",
    ...act,
    input: z.strictObject({ ...bySession, ...ChangePermissions.shape }),
    output: Done,
    faults: [...NO_AGENT],
  },
  "agent.snapshot": {
    http: "GET /v1/sessions/:session_id/snapshot",
    summary: "The whole state of an agent session; its events go on from `events_tail`.",
    ...read,
    input: z.strictObject(bySession),
    output: AgentSnapshot,
    faults: ["session_not_found", "unsupported"],
  },
  "agent.transcript": {
    http: "GET /v1/sessions/:session_id/transcript",
    summary: "Read what was said and done, the last messages first asked for.",
    ...read,
    input: z.strictObject({
      ...bySession,
      limit: z.int().min(1).max(limits.list_most).optional(),
      /** Of the first message wanted; absent = the last `limit` ones. */
      from: z.int().min(0).optional(),
    }),
    output: Transcript,
    faults: ["session_not_found", "unsupported", "invalid_request"],
  },
  "agent.queue": {
    http: "GET /v1/sessions/:session_id/queue",
    summary: "See what waits for its moment.",
    ...read,
    input: z.strictObject(bySession),
    output: QueueStatus,
    faults: ["session_not_found", "unsupported"],
  },
  "agent.permissions": {
    http: "GET /v1/sessions/:session_id/permissions",
    summary: "See what an agent may do.",
    ...read,
    input: z.strictObject(bySession),
    output: PermissionsView,
    faults: ["session_not_found", "unsupported"],
  },
  "agent.team": {
    http: "GET /v1/sessions/:session_id/team",
    summary: "See the team of an agent session, as it was when it began.",
    ...read,
    input: z.strictObject(bySession),
    output: TeamSummary,
    faults: ["session_not_found", "unsupported"],
  },
  "agent.tools": {
    http: "GET /v1/sessions/:session_id/tools",
    summary: "List the tools of the current agent.",
    ...read,
    input: z.strictObject(bySession),
    output: workerRequests.tools.output,
    faults: [...NO_AGENT],
  },
  "agent.toolsets": {
    http: "GET /v1/sessions/:session_id/toolsets",
    summary: "See how the current agent's toolsets are doing.",
    ...read,
    input: z.strictObject(bySession),
    output: workerRequests.toolsets.output,
    faults: [...NO_AGENT],
  },
  "agent.restart_toolset": {
    http: "POST /v1/sessions/:session_id/toolsets/:name/restart",
    summary: "Start a toolset anew.",
    ...act,
    input: z.strictObject({ ...bySession, ...RestartToolset.shape }),
    output: ToolsetStatus,
    faults: [...NO_AGENT],
  },
  "agent.models": {
    http: "GET /v1/sessions/:session_id/models",
    summary: "List the models that may be chosen.",
    ...read,
    input: z.strictObject(bySession),
    output: workerRequests.models.output,
    faults: [...NO_AGENT],
  },
  "agent.prompts": {
    http: "GET /v1/sessions/:session_id/prompts",
    summary: "List the prompts that MCP servers of the agent offer.",
    ...read,
    input: z.strictObject(bySession),
    output: workerRequests.prompts.output,
    faults: [...NO_AGENT],
  },
  "agent.prompt": {
    http: "POST /v1/sessions/:session_id/prompts/:name",
    summary: "Fill in a prompt of an MCP server.",
    ...act,
    input: z.strictObject({ ...bySession, ...RunPrompt.shape }),
    output: workerRequests.prompt.output,
    faults: [...NO_AGENT],
  },
  "agent.skills": {
    http: "GET /v1/sessions/:session_id/skills",
    summary: "List the skills of the current agent.",
    ...read,
    input: z.strictObject(bySession),
    output: workerRequests.skills.output,
    faults: [...NO_AGENT],
  },
} as const satisfies Record<string, OperationSpec>;
