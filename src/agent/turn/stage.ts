import type { AgentPorts } from "#agent/ports.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import type { ModelHistory } from "#agent/state/model-history.ts";
import type { AgentDefinition, Team } from "#agent/team/team.ts";
import type { Toolbox } from "#agent/toolbox.ts";
import type { AgentEventBody, TurnEndReason } from "#contract/agent/events.ts";
import type { Model } from "#model/model.ts";
import type { Questions } from "./approvals.ts";
import type { Background } from "./background.ts";
import type { Budget } from "./budget.ts";
import type { TurnHooks } from "./hooks.ts";
import type { PermissionBook } from "./permission-book.ts";

export type Emit = (body: AgentEventBody) => void;

export interface TurnEnd {
  readonly reason: TurnEndReason;
  readonly message?: string | undefined;
}

/** An agent of the team with everything that it acts with. */
export interface Cast {
  readonly definition: AgentDefinition;
  readonly toolbox: Toolbox;
  readonly hooks: TurnHooks;
  /** With the fallbacks behind it; chosen anew for each call, because people may choose another. */
  model(): Model;
  /** The system text of the next call. */
  instruction(): string;
}

/** What all conversations of a session share. */
export interface Stage {
  readonly ports: AgentPorts;
  readonly team: Team;
  readonly fold: AgentState;
  readonly questions: Questions;
  readonly permissions: PermissionBook;
  readonly budget: Budget;
  readonly background: Background;
  /** Calls of the session's own conversation that are being made, waiting for an approval included. */
  readonly inFlight: Set<string>;
  /** Under nobody's name. */
  readonly emit: Emit;
  /** Finds an agent and starts its toolsets. */
  cast(name: string): Promise<Cast>;
  /** Lets an actor work until it has nothing more to do. */
  perform(actor: Actor): Promise<TurnEnd>;
  /** From now on another agent goes on with the session's own conversation. */
  switchAgent(to: Cast): void;
}

/** Who acts in a conversation: the session's own, or a sub-agent's. */
export interface Actor {
  readonly conversation: ModelHistory;
  readonly subagent_id: string | undefined;
  /** How many delegations lead to it. */
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Under its name. */
  readonly emit: Emit;
  cast: Cast;
  /** Why a hook wants the turn to end. */
  stopped: string | undefined;
  /** Of the last call; an estimate when the provider does not say. */
  contextTokens: number;
}
