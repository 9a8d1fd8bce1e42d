import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import type { AgentState, SnapshotPlace } from "./agent-state.ts";
import { asTranscript, callsOf } from "./history.ts";

export interface TranscriptPage {
  readonly title: string;
  /** The index of the first message; absent = the last `limit` ones. */
  readonly from?: number | undefined;
  readonly limit?: number | undefined;
}

export function describeTranscript(fold: AgentState, page: TranscriptPage): Transcript {
  const { items } = fold.conversation;
  const { title, limit = limits.list_default } = page;
  const position = Math.min(page.from ?? Math.max(0, items.length - limit), items.length);
  const messages = items.slice(position, position + limit).map(asTranscript);
  return { title, messages, position, total: items.length };
}

export function describeSnapshot(state: AgentState, place: SnapshotPlace): AgentSnapshot {
  const { title, work_dir, events_tail } = place;
  const { activity, talk, life, model_overrides, team, spec } = state;
  const { agent, model, agents, usage, context_tokens, context_limit, permissions } = talk;
  const { is_cut } = state.status;
  const page = describeTranscript(state, { title, limit: limits.snapshot_messages });
  return {
    ...{ session_id: SessionId.parse(state.session_id), title, life, activity },
    turn_id: activity === "idle" ? null : (talk.turn_id ?? null),
    ...(is_cut ? { is_cut } : {}),
    ...{ agent, model, ...defined({ welcome_message: talk.welcome }), model_overrides },
    ...{ default_agent: team.default_agent, agents: [...agents], team_name: team.name, work_dir },
    ...{ transcript: page.messages, omitted_messages: page.position },
    partial: is_cut ? null : describePartial(state),
    approvals: is_cut ? [] : [...talk.approvals],
    elicitations: is_cut ? [] : [...talk.elicitations],
    ...{ queue: state.queue(), permissions, limits: spec?.limits ?? {} },
    ...{ usage, context_tokens, context_limit, events_tail },
  };
}

function describePartial({ conversation }: AgentState): AgentSnapshot["partial"] {
  const { answer, parts } = conversation;
  if (answer === undefined) return null;
  const { key: message_id, agent, text, reasoning } = answer;
  return { message_id, agent, text, reasoning, tool_calls: callsOf(parts) };
}
