import type { Fault } from "#contract/fault.ts";

/** A refused input, as far as it matters to the inputs behind it. */
interface Refusal {
  readonly fault: Fault;
  readonly takes: number;
  /** The number that the session applies next. */
  readonly next: number;
}

/**
 * The numbers of an attachment's inputs on one connection. The session applies them in order and only the next one, so
 * behind a refused input it refuses all that were under way. Then nothing is sent until each of them is answered:
 *
 *   counting ──refused──▶ settling ──all are answered──▶ counting, from the number that was refused
 */
export class InputNumbers {
  #next: number;
  #underWay = 0;
  #refusal: Refusal | undefined;

  constructor(applied: number) {
    this.#next = applied + 1;
  }

  get isSettling(): boolean {
    return this.#refusal !== undefined;
  }

  /** The number of an input that is sent now. */
  take(): number {
    this.#underWay += 1;
    this.#next += 1;
    return this.#next - 1;
  }

  acknowledged(): void {
    this.#underWay -= 1;
    this.#settle();
  }

  /**
   * The fault of a refused input; undefined when the input is to be sent again. That is one that was refused only because of
   * another before it, and `take` was called between the two: control may have been the reason.
   */
  refused(input: RefusedInput): Fault | undefined {
    const { sequence, takes, fault, expected } = input;
    const before = this.#refusal;
    this.#refusal = { fault, takes, ...before, next: expected ?? before?.next ?? sequence };
    this.#underWay -= 1;
    this.#settle();
    if (before === undefined || fault.code !== "input_out_of_order") return fault;
    return takes > before.takes ? undefined : before.fault;
  }

  #settle(): void {
    if (this.#refusal === undefined || this.#underWay > 0) return;
    this.#next = this.#refusal.next;
    this.#refusal = undefined;
  }
}

export interface RefusedInput {
  readonly sequence: number;
  /** How often control was asked for before it. */
  readonly takes: number;
  readonly fault: Fault;
  /** The number that the session expects, if it says. */
  readonly expected: number | undefined;
}
