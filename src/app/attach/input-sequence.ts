import { Fault } from "#contract/fault.ts";

/** The numbers of one connection's inputs: 1, 2, 3 … A refused input may be sent again under its number if it was the last. */
export class InputSequence {
  #last = 0;
  #isLastRefused = false;

  /** Throws `invalid_request` when an input is missing before this one, or this one came before. */
  take(sequence: number): void {
    const expected = this.#last + 1;
    const isAgain = this.#isLastRefused && sequence === this.#last;
    if (sequence !== expected && !isAgain)
      throw new Fault("invalid_request", `input ${sequence} came where ${expected} was expected`, {
        details: { sequence, expected },
      });
    this.#last = sequence;
    this.#isLastRefused = false;
  }

  refused(sequence: number): void {
    if (sequence === this.#last) this.#isLastRefused = true;
  }
}
