import type { AgentEvent, AgentEventOf, QueuedMessage, TeamAgent } from "#contract/agent/events.ts";
import { agentEventTypes } from "#contract/agent/events.ts";
import type { Usage } from "#contract/agent/message.ts";
import type { AgentSpec, ModelOverrides, Permissions, SafetyMode } from "#contract/agent/spec.ts";
import type {
  AgentSnapshot,
  PendingApproval,
  PendingElicitation,
  PermissionsView,
  QueueStatus,
  Transcript,
} from "#contract/agent/views.ts";
import { isSleeping } from "#contract/ended.ts";
import type { SessionEvent } from "#contract/events.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { Conversation } from "./conversation.ts";
import { describeSnapshot, describeTranscript, type TranscriptPage } from "./describe.ts";
import { RememberedKeys } from "./remembered-keys.ts";

const known = new Set<string>(agentEventTypes);

const NOTHING_USED: Usage = { input_tokens: 0, output_tokens: 0, cost: 0 };
export const DEFAULT_SAFETY: SafetyMode = "balanced";

/**
 * An agent session as its events tell it. The worker that goes on with it and everybody who looks at it make it from
 * the same log by the same code, so they cannot disagree, and a session without a worker can be read like any other.
 */
export class AgentFold {
  readonly session_id: string;
  readonly conversation = new Conversation();
  readonly approvals = new Map<string, PendingApproval>();
  readonly elicitations = new Map<string, PendingElicitation>();
  /** Helpers that are at work: id → the agent's name. */
  readonly subagents = new Map<string, string>();
  readonly keys = new RememberedKeys(limits.input_ids_remembered);
  readonly #queue: QueuedMessage[] = [];
  readonly #toolState: { tool: string; state: AgentEventOf<"tool.result">["state"] }[] = [];
  spec: AgentSpec | undefined;
  life = 1;
  turn_id: string | undefined;
  /** The last worker that had begun ended in the middle of something. */
  isCut = false;
  /** The last turn was stopped: by a person, an error or a limit. Waiting messages then wait for the next one. */
  isHeld = false;
  /** How often its worker crashed since a turn last ended by itself. */
  crashes = 0;
  /** The newest life has said who it is. One that never got there has changed nothing. */
  #hasBegun = true;
  agent = "";
  model = "";
  welcome_message: string | undefined;
  model_overrides: ModelOverrides = {};
  context_limit: number | null = null;
  context_tokens = 0;
  /** How long it has worked, waiting for people not counted. */
  active_ms = 0;
  usage: Usage = NOTHING_USED;
  team: { name: string; default_agent: string; agents: readonly TeamAgent[] } = {
    name: "",
    default_agent: "",
    agents: [],
  };
  teamPermissions: Permissions = {};
  sessionPermissions: Permissions = {};
  safety: SafetyMode = DEFAULT_SAFETY;

  constructor(sessionId: string) {
    this.session_id = sessionId;
  }

  get activity(): AgentSnapshot["activity"] {
    if (this.isCut) return this.isRestartDue ? "running" : "idle";
    if (this.approvals.size + this.elicitations.size > 0) return "waiting";
    // Between two turns the next message is about to be taken up.
    return this.turn_id === undefined && !this.hasWork ? "idle" : "running";
  }

  get waitingMessages(): readonly QueuedMessage[] {
    return this.#queue;
  }

  /** Accepted messages wait that a life takes up by itself as soon as it begins. */
  get hasWork(): boolean {
    const isBetweenTurns = this.turn_id === undefined || this.isCut;
    return this.#queue.length > 0 && !this.isHeld && isBetweenTurns;
  }

  /** The next life starts without being asked for: there is work, and crashes have not used up the restarts. */
  get isRestartDue(): boolean {
    return this.hasWork && this.crashes <= limits.agent_crash_restarts;
  }

  /** The newest state that one of these tools asked to remember. */
  toolState(tools: readonly string[]): AgentEventOf<"tool.result">["state"] {
    return this.#toolState.findLast(({ tool }) => tools.includes(tool))?.state;
  }

  apply(event: SessionEvent | AgentEvent): void {
    if (event.type === "session.resumed") this.#applyResumed(event);
    else if (event.type === "session.exited") this.#applyExit(event);
    else if (known.has(event.type)) this.#applyAgent(event as AgentEvent);
  }

  snapshot(place: SnapshotPlace): AgentSnapshot {
    return describeSnapshot(this, place);
  }

  transcript(page: TranscriptPage): Transcript {
    return describeTranscript(this, page);
  }

  queue(): QueueStatus {
    const depth = (kind: string) => this.#queue.filter((item) => item.kind === kind).length;
    return {
      steer: { depth: depth("steer"), capacity: limits.steer_queue },
      followup: { depth: depth("followup"), capacity: limits.followup_queue },
      waiting: [...this.#queue],
    };
  }

  permissions(): PermissionsView {
    return { team: this.teamPermissions, session: this.sessionPermissions, safety: this.safety };
  }

  #applyResumed({ life }: Extract<SessionEvent, { type: "session.resumed" }>): void {
    this.life = life;
    this.#hasBegun = false;
  }

  /**
   * A worker that ends by itself was parked, and the next life continues where it was; any other end is a cut. A life
   * that ended before it began has neither repaired a cut nor made one.
   */
  #applyExit({ state }: Extract<SessionEvent, { type: "session.exited" }>): void {
    if (isSleeping({ state })) return;
    this.crashes += 1;
    if (this.#hasBegun) this.isCut = true;
  }

  #applyAgent(event: AgentEvent): void {
    if (event.subagent_id === undefined) {
      this.conversation.apply(event);
      this.#applyOwn(event);
    }
    this.#applyQuestions(event);
    this.#applyTeam(event);
    this.#applySubagents(event);
    if (event.type === "usage.updated") {
      this.usage = event.total;
      this.active_ms = event.active_ms;
    }
  }

  #applyOwn(event: AgentEvent): void {
    switch (event.type) {
      case "turn.started":
        this.turn_id = event.turn_id;
        this.isCut = false;
        this.isHeld = false;
        this.#hasBegun = true;
        break;
      case "turn.ended":
        this.#endTurn(event);
        break;
      case "message.user":
        this.keys.add(event.message_id, event.turn_id);
        this.keys.add(event.idempotency_key, event.turn_id);
        this.#dequeue(event.queue_id);
        break;
      case "queue.changed":
        this.#applyQueue(event);
        break;
      case "tool.result":
        this.#rememberState(event);
        break;
      case "usage.updated":
        this.context_tokens = event.context_tokens;
        this.context_limit = event.context_limit;
        break;
      default:
    }
  }

  /** Only the next life ends a turn that is cut. A crash stops a turn without intent, so it holds no message. */
  #endTurn({ reason }: AgentEventOf<"turn.ended">): void {
    this.turn_id = undefined;
    this.isHeld = reason !== "done" && !this.isCut;
    if (!this.isCut) this.crashes = 0;
    this.isCut = false;
    this.#dropQuestions(undefined);
  }

  /** Who has ended waits for no answer. */
  #dropQuestions(subagentId: string | undefined): void {
    for (const { approval_id, subagent_id } of this.approvals.values())
      if (subagent_id === subagentId) this.approvals.delete(approval_id);
    for (const { elicitation_id, subagent_id } of this.elicitations.values())
      if (subagent_id === subagentId) this.elicitations.delete(elicitation_id);
  }

  #applyQueue({ added, removed = [] }: AgentEventOf<"queue.changed">): void {
    if (added !== undefined) {
      this.#queue.push(added);
      this.keys.add(added.idempotency_key, undefined);
    }
    for (const id of removed) this.#dequeue(id);
  }

  /** A message that was read has left the queue by that, so that no cut can come between the two. */
  #dequeue(id: string | undefined): void {
    const at = this.#queue.findIndex(({ queue_id }) => queue_id === id);
    if (at !== -1) this.#queue.splice(at, 1);
  }

  #rememberState({ tool, state }: AgentEventOf<"tool.result">): void {
    if (state === undefined) return;
    const before = this.#toolState.findIndex((entry) => entry.tool === tool);
    if (before !== -1) this.#toolState.splice(before, 1);
    this.#toolState.push({ tool, state });
  }

  #applyQuestions(event: AgentEvent): void {
    const who = {
      ...defined({ agent: event.agent, subagent_id: event.subagent_id }),
    };
    if (event.type === "approval.requested") {
      const { approval_id, kind, call_id, tool, input, message } = event;
      const what = dropUndefined({ call_id, tool, input });
      this.approvals.set(approval_id, { approval_id, kind, message, ...what, ...who });
    } else if (event.type === "approval.resolved") this.approvals.delete(event.approval_id);
    else if (event.type === "elicitation.requested") {
      const { elicitation_id, call_id, message, schema } = event;
      const what = dropUndefined({ call_id });
      this.elicitations.set(elicitation_id, { elicitation_id, message, schema, ...what, ...who });
    } else if (event.type === "elicitation.resolved")
      this.elicitations.delete(event.elicitation_id);
  }

  #applyTeam(event: AgentEvent): void {
    if (event.type === "team.info") {
      const { name, default_agent, agents, spec } = event;
      this.team = { name, default_agent, agents };
      this.spec = spec;
      if (this.agent === "") this.agent = spec.agent;
      this.teamPermissions = event.permissions ?? {};
      this.sessionPermissions = spec.permissions ?? {};
      this.safety = spec.safety ?? DEFAULT_SAFETY;
    } else if (event.type === "agent.info" && event.subagent_id === undefined) {
      // A new life says this when it has cleared up behind the one before.
      this.isCut = false;
      this.#hasBegun = true;
      this.agent = event.name;
      this.model = event.model;
      this.welcome_message = event.welcome_message;
      this.model_overrides = event.model_overrides;
      this.context_limit = event.context_limit;
    } else if (event.type === "agent.switched") this.agent = event.to;
    else if (event.type === "permissions.changed") {
      this.sessionPermissions = event.permissions;
      this.safety = event.safety;
    }
  }

  #applySubagents(event: AgentEvent): void {
    const { subagent_id } = event;
    if (subagent_id === undefined) return;
    if (event.type === "subagent.started") this.subagents.set(subagent_id, event.name);
    else if (event.type === "subagent.ended") {
      this.subagents.delete(subagent_id);
      this.#dropQuestions(subagent_id);
    }
  }
}

/** What the log of the agent itself does not say. */
export interface SnapshotPlace {
  readonly title: string;
  readonly work_dir: string;
  readonly events_tail: number;
}

function dropUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, entry]) => entry !== undefined);
  // Only what was undefined is gone.
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}
