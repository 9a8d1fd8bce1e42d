import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import type { AgentFold, SnapshotPlace } from "./agent-fold.ts";
import { asTranscript, callsOf } from "./history.ts";

export interface TranscriptPage {
  readonly title: string;
  /** Of the first message; absent = the last `limit` ones. */
  readonly from?: number | undefined;
  readonly limit?: number | undefined;
}

export function describeTranscript(fold: AgentFold, page: TranscriptPage): Transcript {
  const { items } = fold.conversation;
  const { title, limit = limits.list_default } = page;
  const position = Math.min(page.from ?? Math.max(0, items.length - limit), items.length);
  const messages = items.slice(position, position + limit).map(asTranscript);
  return { title, messages, position, total: items.length };
}

export function describeSnapshot(fold: AgentFold, place: SnapshotPlace): AgentSnapshot {
  const { title, work_dir, events_tail } = place;
  const { activity, turn_id, agent, model, model_overrides, team, usage } = fold;
  const isIdle = activity === "idle";
  const { messages, position } = describeTranscript(fold, {
    title,
    limit: limits.snapshot_messages,
  });
  return {
    session_id: SessionId.parse(fold.session_id),
    title,
    life: fold.life,
    activity,
    turn_id: isIdle ? null : (turn_id ?? null),
    agent,
    model,
    ...defined({ welcome_message: fold.welcome_message }),
    model_overrides,
    default_agent: team.default_agent,
    agents: [...team.agents],
    team_name: team.name,
    work_dir,
    transcript: messages,
    omitted_messages: position,
    partial: describePartial(fold),
    approvals: fold.isCut ? [] : [...fold.approvals.values()],
    elicitations: fold.isCut ? [] : [...fold.elicitations.values()],
    queue: fold.queue(),
    permissions: fold.permissions(),
    limits: fold.spec?.limits ?? {},
    usage,
    context_tokens: fold.context_tokens,
    context_limit: fold.context_limit,
    events_tail,
  };
}

function describePartial({ conversation, isCut }: AgentFold): AgentSnapshot["partial"] {
  const { answer } = conversation;
  if (answer === undefined || isCut) return null;
  const { message_id, agent, text, reasoning, parts } = answer;
  return { message_id, agent, text, reasoning, tool_calls: callsOf(parts) };
}
