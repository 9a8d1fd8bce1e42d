import { isSleeping } from "#contract/ended.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { TurnEndReason } from "./events.ts";

/** How a turn has ended, and what was said last in it. */
export interface TurnOutcome {
  readonly reason: TurnEndReason;
  /** Why, if it did not just end. */
  readonly message: string | undefined;
  /** The fault's, when it failed by one. */
  readonly code: string | undefined;
  readonly response: string;
}

/** Reads a turn from its events; what sub-agents do is not part of it. */
export class TurnReader {
  #response = "";
  #error: { readonly code: string; readonly message: string } | undefined;
  #outcome: TurnOutcome | undefined;

  /** Undefined as long as it runs, and when its worker ended in the middle. */
  get outcome(): TurnOutcome | undefined {
    return this.#outcome;
  }

  apply(event: AnyEvent): void {
    if ("subagent_id" in event && event.subagent_id !== undefined) return;
    switch (event.type) {
      case "turn.started":
        // What stands before it belongs to another turn.
        this.#response = "";
        this.#error = undefined;
        this.#outcome = undefined;
        return;
      case "message.end":
        if (event.text !== "") this.#response = event.text;
        return;
      case "error":
        this.#error = event;
        return;
      case "turn.ended":
        this.#outcome = {
          reason: event.reason,
          message: event.message ?? this.#error?.message,
          code: event.reason === "error" ? this.#error?.code : undefined,
          response: this.#response,
        };
    }
  }
}

/** The events up to the end of a turn, or of the worker that ran it: the next life ends what a killed one left open. */
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

/** A worker that parks leaves with 0, and its turn goes on in the next life. */
function isCut(event: AnyEvent): boolean {
  return event.type === "session.exited" && !isSleeping(event);
}
