import { AgentState } from "#agent/state/agent-state.ts";
import { type EventLine, isReply } from "#app/read/event-lines.ts";
import { AnyEvent } from "#contract/operations/agent.ts";
import { INIT_PREFIX } from "./worker-link.ts";

/** Turns that can be followed again by the key that started them. */
const TURNS_REMEMBERED = 256;

/** An agent session as far as its log was read, and whether its worker can be asked. */
export class AgentView {
  readonly fold: AgentState;
  /** Turn → where its events begin. */
  readonly #turns = new Map<string, number>();
  #next = 0;
  #worker: "none" | "ready" | "refused" = "none";

  constructor(sessionId: string) {
    this.fold = new AgentState(sessionId);
  }

  /** Behind the last whole line. */
  get next(): number {
    return this.#next;
  }

  /** Of the newest life: nobody has begun it yet, it answers, or it would not begin. */
  get worker(): "none" | "ready" | "refused" {
    return this.#worker;
  }

  findTurn(turnId: string): number | undefined {
    return this.#turns.get(turnId);
  }

  apply({ value, end }: EventLine): void {
    const from = this.#next;
    this.#next = end;
    if (value === undefined) return;
    if (isReply(value)) {
      this.#hear(value);
      return;
    }
    // A bad line and one of a newer worker are left out; the rest is still a history.
    const parsed = AnyEvent.safeParse(value);
    if (!parsed.success) return;
    const event = parsed.data;
    if (event.type === "session.resumed" || event.type === "session.exited") this.#worker = "none";
    if (event.type === "turn.started" && event.subagent_id === undefined)
      this.#remember(event.turn_id, from);
    this.fold.apply(event);
  }

  #hear({ id, error }: NonNullable<EventLine["value"]>): void {
    if (typeof id !== "string" || !id.startsWith(`${INIT_PREFIX}_`)) return;
    if (error === undefined) this.#worker = "ready";
    else if (this.#worker !== "ready") this.#worker = "refused";
  }

  #remember(turnId: string | undefined, from: number): void {
    if (turnId === undefined) return;
    this.#turns.set(turnId, from);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > TURNS_REMEMBERED && oldest !== undefined) this.#turns.delete(oldest);
  }
}
