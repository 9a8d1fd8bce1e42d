import type { AgentState } from "#agent/state/agent-state.ts";
import { randomId } from "#base/random-id.ts";
import type { AgentEventBody, QueuedMessage } from "#contract/agent/events.ts";
import type { Framing, MessagePart } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";

interface Enqueued {
  readonly messages: readonly (readonly MessagePart[])[];
  readonly framing?: Framing | undefined;
  readonly idempotency_key?: string | undefined;
}

const capacities = { steer: limits.steer_queue, followup: limits.followup_queue } as const;

/** Messages that wait for their moment. They stand in the log, so they outlive the worker. */
export class MessageQueue {
  readonly #fold: AgentState;
  readonly #emit: (body: AgentEventBody) => void;

  constructor(fold: AgentState, emit: (body: AgentEventBody) => void) {
    this.#fold = fold;
    this.#emit = emit;
  }

  count(kind: QueuedMessage["kind"]): number {
    return this.#of(kind).length;
  }

  /** All of them, or none; says at which place the last one stands. */
  add(kind: QueuedMessage["kind"], { messages, framing, idempotency_key }: Enqueued): number {
    const capacity = capacities[kind];
    if (this.count(kind) + messages.length > capacity) {
      throw new Fault(
        "queue_full",
        `${this.count(kind)} of ${capacity} messages wait already; try again when the agent has read some`,
        { details: { queue: kind, capacity, retry_after_s: 1 } },
      );
    }
    for (const content of messages) {
      const added: QueuedMessage = {
        queue_id: randomId("que"),
        kind,
        content: [...content],
        ...defined({ framing, idempotency_key }),
      };
      this.#emit({ type: "queue.changed", ...this.#depths(kind, 1), added });
    }
    return this.count(kind);
  }

  /** The next ones. A message leaves the queue by being said: by a `message.user` with its `queue_id`. */
  next(kind: QueuedMessage["kind"], most: number): readonly QueuedMessage[] {
    return this.#of(kind).slice(0, most);
  }

  /** Some were said. */
  tell(said: readonly QueuedMessage[]): void {
    if (said.length === 0) return;
    const removed = said.map(({ queue_id }) => queue_id);
    this.#emit({ type: "queue.changed", ...this.#depths("steer", 0), removed });
  }

  #depths(kind: QueuedMessage["kind"], change: number): { steer: number; followup: number } {
    const depths = { steer: this.count("steer"), followup: this.count("followup") };
    return { ...depths, [kind]: depths[kind] + change };
  }

  #of(kind: QueuedMessage["kind"]): readonly QueuedMessage[] {
    return this.#fold.talk.queue.filter((message) => message.kind === kind);
  }
}
