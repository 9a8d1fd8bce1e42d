import type { AgentEventOf, QueuedMessage, TeamAgent } from "#contract/agent/events.ts";
import type { Usage } from "#contract/agent/message.ts";
import type { AgentSnapshot, PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { defined } from "#contract/values/defined.ts";

/** The facts about a session beside what is said and done in it. */
export interface SessionFacts {
  /** Open questions. A worker that was cut leaves them to the next one, which ends them: `status.needs` has none then. */
  readonly approvals: readonly PendingApproval[];
  readonly elicitations: readonly PendingElicitation[];
  readonly queue: readonly QueuedMessage[];
  readonly agents: readonly TeamAgent[];
  readonly agent: string;
  readonly model: string;
  /** The turn that has not ended; the next worker ends one that was cut. */
  readonly turn_id: string | undefined;
  readonly isCompacting: boolean;
  readonly usage: Usage;
  readonly context_tokens: number;
  readonly context_limit: number | null;
}

export const noFacts: SessionFacts = {
  approvals: [],
  elicitations: [],
  queue: [],
  agents: [],
  agent: "",
  model: "",
  turn_id: undefined,
  isCompacting: false,
  usage: { input_tokens: 0, output_tokens: 0, cost: 0 },
  context_tokens: 0,
  context_limit: null,
};

export function factsOf(snapshot: AgentSnapshot): SessionFacts {
  const { approvals, elicitations, agents, agent, model, usage } = snapshot;
  const { context_tokens, context_limit, turn_id, queue } = snapshot;
  return {
    ...{ approvals, elicitations, agents, agent, model, usage, context_tokens, context_limit },
    ...{ isCompacting: false, turn_id: turn_id ?? undefined, queue: queue.waiting },
  };
}

/** The same state when the event does not change it. */
export function applyFacts<S extends SessionFacts>(state: S, event: AnyEvent): S {
  const change = changeByQuestion(state, event) ?? changeBySession(state, event);
  return change === undefined ? state : { ...state, ...change };
}

type Change = Partial<SessionFacts> | undefined;

function changeByQuestion(state: SessionFacts, event: AnyEvent): Change {
  const { approvals, elicitations } = state;
  switch (event.type) {
    case "approval.requested":
      return { approvals: [...withoutApproval(approvals, event), approvalOf(event)] };
    case "approval.resolved":
      return { approvals: withoutApproval(approvals, event) };
    case "elicitation.requested":
      return { elicitations: [...withoutQuestion(elicitations, event), elicitationOf(event)] };
    case "elicitation.resolved":
      return { elicitations: withoutQuestion(elicitations, event) };
    case "subagent.ended":
      return event.subagent_id === undefined ? undefined : dropQuestions(state, event.subagent_id);
    case "turn.ended":
      if (event.subagent_id !== undefined) return undefined;
      return {
        ...dropQuestions(state, undefined),
        ...{ turn_id: undefined, isCompacting: false },
      };
    default:
      return undefined;
  }
}

function changeBySession(state: SessionFacts, event: AnyEvent): Change {
  if ("subagent_id" in event && event.subagent_id !== undefined) return changeByOther(event);
  switch (event.type) {
    case "turn.started":
      return { turn_id: event.turn_id };
    case "message.user":
      return { queue: state.queue.filter(({ queue_id }) => queue_id !== event.queue_id) };
    case "queue.changed":
      return { queue: changeQueue(state.queue, event) };
    case "team.info":
      return { agents: event.agents, agent: state.agent || event.spec.agent };
    case "agent.info": {
      const { name: agent, model, context_limit } = event;
      return { agent, model, context_limit };
    }
    case "agent.switched":
      return { agent: event.to };
    case "usage.updated": {
      const { total: usage, context_tokens, context_limit } = event;
      return { usage, context_tokens, context_limit };
    }
    case "compaction.started":
      return { isCompacting: true };
    case "compaction.ended":
      return { isCompacting: false };
    case "session.exited":
      return { isCompacting: false };
    default:
      return undefined;
  }
}

/** The tokens of a sub-agent are the session's. */
function changeByOther(event: AnyEvent): Change {
  return event.type === "usage.updated" ? { usage: event.total } : undefined;
}

function changeQueue(
  queue: readonly QueuedMessage[],
  { added, removed = [] }: AgentEventOf<"queue.changed">,
): readonly QueuedMessage[] {
  const others = queue.filter(({ queue_id }) => queue_id !== added?.queue_id);
  const all = added === undefined ? others : [...others, added];
  return all.filter(({ queue_id }) => !removed.includes(queue_id));
}

/** An agent that has ended waits for no answer. */
function dropQuestions({ approvals, elicitations }: SessionFacts, subagentId: string | undefined) {
  const isOther = (asked: { readonly subagent_id?: string | undefined }) =>
    asked.subagent_id !== subagentId;
  return { approvals: approvals.filter(isOther), elicitations: elicitations.filter(isOther) };
}

function withoutApproval(
  approvals: readonly PendingApproval[],
  { approval_id }: { readonly approval_id: string },
) {
  return approvals.filter((asked) => asked.approval_id !== approval_id);
}

function withoutQuestion(
  elicitations: readonly PendingElicitation[],
  { elicitation_id }: { readonly elicitation_id: string },
) {
  return elicitations.filter((asked) => asked.elicitation_id !== elicitation_id);
}

/** The same as in a snapshot. */
export function approvalOf(event: AgentEventOf<"approval.requested">): PendingApproval {
  const { approval_id, kind, tool, input, message } = event;
  return {
    ...{ approval_id, kind, message, ...whoAsks(event) },
    ...defined({ tool, input }),
  };
}

export function elicitationOf(event: AgentEventOf<"elicitation.requested">): PendingElicitation {
  const { elicitation_id, message, schema } = event;
  return { elicitation_id, message, schema, ...whoAsks(event) };
}

function whoAsks(event: {
  readonly call_id?: string | undefined;
  readonly agent?: string | undefined;
  readonly subagent_id?: string | undefined;
}) {
  const { call_id, agent, subagent_id } = event;
  return {
    ...defined({ call_id, agent, subagent_id }),
  };
}
