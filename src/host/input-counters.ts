import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";

/** An input of a named attachment: its first is 1, the next 2, also over another connection. */
export interface InputNumber {
  /** The client's name for its attachment, which stays the same when the client reconnects. */
  readonly attachment: string;
  readonly number: number;
}

/**
 * The last applied input of each named attachment. Only the next number is applied, so an input that is sent again, over
 * whichever connection, is applied once and in its place.
 *
 *   number ≤ last      applied before: acknowledged, not applied
 *   number = last + 1  applied
 *   number > last + 1  refused with `input_out_of_order`
 *
 * The least recently used attachment is forgotten first. A client that comes back after that gets null instead of a number.
 */
export class InputCounters {
  readonly #last = new BoundedMap<string, number>(limits.input_attachments_remembered);

  /** The last applied number. Null for an attachment that is not known: it is from now on. */
  enter(attachment: string): number | null {
    const last = this.#last.get(attachment);
    this.#last.set(attachment, last ?? 0);
    return last ?? null;
  }

  isApplied({ attachment, number }: InputNumber): boolean {
    return number <= (this.#last.get(attachment) ?? 0);
  }

  /** Throws `input_out_of_order` unless it is the next one. */
  check({ attachment, number }: InputNumber): void {
    const expected = (this.#last.get(attachment) ?? 0) + 1;
    if (number === expected) return;
    throw new Fault(
      "input_out_of_order",
      `input ${number} of this attachment came where ${expected} was expected; it was not applied`,
      { details: { number, expected } },
    );
  }

  applied({ attachment, number }: InputNumber): void {
    this.#last.set(attachment, number);
  }

  /** The least recently used first. */
  handOver(): { attachment: string; applied: number }[] {
    return [...this.#last.keys()].map((attachment) => ({
      attachment,
      applied: this.#last.get(attachment) ?? 0,
    }));
  }

  adopt(handed: readonly { readonly attachment: string; readonly applied: number }[]): void {
    for (const { attachment, applied } of handed) this.#last.set(attachment, applied);
  }
}
