import { type AgentStatus, activityOf, isRestartDue } from "#contract/agent/agent-status.ts";
import type { AgentEvent, AgentEventOf } from "#contract/agent/events.ts";
import type { AgentSpec, ModelOverrides } from "#contract/agent/spec.ts";
import type { AgentSnapshot, QueueStatus, Transcript } from "#contract/agent/views.ts";
import type { Conversation } from "#contract/conversation/items.ts";
import type { SessionEvent } from "#contract/events.ts";
import { limits } from "#contract/limits.ts";
import { describeSnapshot, describeTranscript, type TranscriptPage } from "./describe.ts";
import { ModelHistory } from "./model-history.ts";
import { RememberedKeys } from "./remembered-keys.ts";

/**
 * An agent session as its worker needs it: the shared conversation, and beside it what only a worker needs. The worker
 * and every reader make it from the same log with the same code, so a session without a worker reads like any other.
 */
export class AgentState {
  readonly session_id: string;
  readonly conversation = new ModelHistory();
  readonly keys = new RememberedKeys(limits.input_ids_remembered);
  readonly #toolState: { tool: string; state: AgentEventOf<"tool.result">["state"] }[] = [];
  spec: AgentSpec | undefined;
  life = 1;
  model_overrides: ModelOverrides = {};
  /** How long the agent has worked, without the time that it waited for people. */
  active_ms = 0;
  team = { name: "", default_agent: "" };

  constructor(sessionId: string) {
    this.session_id = sessionId;
  }

  get talk(): Conversation {
    return this.conversation.talk;
  }

  get status(): AgentStatus {
    return this.talk.status;
  }

  get turn_id(): string | undefined {
    return this.talk.turn_id;
  }

  get agent(): string {
    return this.talk.agent;
  }

  get activity(): AgentSnapshot["activity"] {
    return activityOf(this.status);
  }

  /** The next worker starts without a request: messages wait, and crashes have not used up the restarts. */
  get isRestartDue(): boolean {
    return isRestartDue(this.status);
  }

  /** Sub-agents that work: id → the agent's name. */
  get subagents(): ReadonlyMap<string, string> {
    const working = [...this.talk.subagents].filter(([, { outcome }]) => outcome === undefined);
    return new Map(working.map(([id, { name }]) => [id, name]));
  }

  /** The newest state that one of these tools asked to remember. */
  toolState(tools: readonly string[]): AgentEventOf<"tool.result">["state"] {
    return this.#toolState.findLast(({ tool }) => tools.includes(tool))?.state;
  }

  apply(event: SessionEvent | AgentEvent): void {
    this.conversation.apply(event);
    if (event.type === "session.resumed") this.life = event.life;
    else if (event.type === "usage.updated") this.active_ms = event.active_ms;
    else if (event.type === "team.info") {
      const { name, default_agent, spec } = event;
      this.team = { name, default_agent };
      this.spec = spec;
    } else if (!("subagent_id" in event && event.subagent_id !== undefined)) this.#applyOwn(event);
  }

  snapshot(place: SnapshotPlace): AgentSnapshot {
    return describeSnapshot(this, place);
  }

  transcript(page: TranscriptPage): Transcript {
    return describeTranscript(this, page);
  }

  queue(): QueueStatus {
    const { queue } = this.talk;
    const depth = (kind: string) => queue.filter((item) => item.kind === kind).length;
    return {
      steer: { depth: depth("steer"), capacity: limits.steer_queue },
      followup: { depth: depth("followup"), capacity: limits.followup_queue },
      waiting: [...queue],
    };
  }

  #applyOwn(event: SessionEvent | AgentEvent): void {
    switch (event.type) {
      case "agent.info":
        this.model_overrides = event.model_overrides;
        break;
      case "message.user":
        this.keys.add(event.message_id, event.turn_id);
        this.keys.add(event.idempotency_key, event.turn_id);
        break;
      case "queue.changed":
        this.keys.add(event.added?.idempotency_key, undefined);
        break;
      case "tool.result":
        this.#rememberState(event);
        break;
      default:
    }
  }

  #rememberState({ tool, state }: AgentEventOf<"tool.result">): void {
    if (state === undefined) return;
    const before = this.#toolState.findIndex((entry) => entry.tool === tool);
    if (before !== -1) this.#toolState.splice(before, 1);
    this.#toolState.push({ tool, state });
  }
}

/** What the log of the agent itself does not contain. */
export interface SnapshotPlace {
  readonly title: string;
  readonly work_dir: string;
  readonly events_tail: number;
}
