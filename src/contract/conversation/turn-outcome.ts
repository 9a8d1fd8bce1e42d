import type { TurnEndReason } from "#contract/agent/events.ts";
import { isSleeping } from "#contract/ended.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";

/** How a turn has ended, and the last message of its agent. */
export interface TurnOutcome {
  readonly reason: TurnEndReason;
  /** Why the turn did not just end. */
  readonly message: string | undefined;
  /** The code of the fault that ended the turn. */
  readonly code: string | undefined;
  readonly response: string;
}

/** The newest turn, without what its sub-agents do. */
export interface TurnProgress {
  readonly response: string;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Undefined while the turn runs, and when its worker ended in the middle. */
  readonly outcome: TurnOutcome | undefined;
}

export const noTurn: TurnProgress = { response: "", error: undefined, outcome: undefined };

/** The same state when the event does not change it. */
export function applyTurn<S extends TurnProgress>(state: S, event: AnyEvent): S {
  if ("subagent_id" in event && event.subagent_id !== undefined) return state;
  switch (event.type) {
    case "turn.started":
      return { ...state, ...noTurn };
    case "message.end":
      return event.text === "" ? state : { ...state, response: event.text };
    case "error":
      return { ...state, error: event };
    case "turn.ended": {
      const { reason, message = state.error?.message } = event;
      const code = reason === "error" ? state.error?.code : undefined;
      return { ...state, outcome: { reason, message, code, response: state.response } };
    }
    default:
      return state;
  }
}

/** The events up to the end of a turn, or of the worker that ran it: the next worker ends the turns of a killed one. */
export async function* untilTurnEnd(
  items: AsyncIterable<StreamItem<AnyEvent>>,
  turnId: string,
): AsyncGenerator<StreamItem<AnyEvent>, void, void> {
  for await (const item of items) {
    yield item;
    const { data } = item;
    if (isCut(data)) return;
    if (data.type === "turn.ended" && data.turn_id === turnId && data.subagent_id === undefined)
      return;
  }
}

/** The worker ended in the middle. One that sleeps exits with 0, and its turn continues in the next worker. */
export function isCut(event: AnyEvent): boolean {
  return event.type === "session.exited" && !isSleeping(event);
}
