import * as z from "zod";
import { AgentEvent } from "#contract/agent/events.ts";
import { SentMessages } from "#contract/agent/message.ts";
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
  Transcript,
} from "#contract/agent/views.ts";
import { SessionEvent } from "#contract/events.ts";
import { SessionId, TaskId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SessionName, SystemText, Title } from "#contract/session.ts";
import { agentRequests, IdempotencyKey, NO_AGENT } from "./agent-requests.ts";
import { ListPage, type OperationSpec } from "./operation-spec.ts";

const bySession = { session_id: SessionId };
const read = { role: "viewer", answers: "json", runs: "owner" } as const;
const act = { role: "operator", answers: "json", runs: "owner" } as const;
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
    name: SessionName.optional(),
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
    runs: "every-host",
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
      "conflict",
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
    runs: "owner",
    input: z.strictObject({
      ...bySession,
      messages: SentMessages,
      idempotency_key: IdempotencyKey,
    }),
    output: AnyEvent,
    faults: [...NO_AGENT],
  },
  ...agentRequests,
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
} as const satisfies Record<string, OperationSpec>;
