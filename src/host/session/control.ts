import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Controller } from "#contract/session.ts";

export interface ControlChange {
  readonly controller: Controller | null;
  readonly taken_from: string | null;
}

/**
 * Who may type and resize: at most one holder, by a lease that lasts as long as its holder shows up. Ownership is
 * one field with a generation, swapped in one step, so there is no moment at which nobody or two could hold it;
 * whoever comes with an older generation changes nothing.
 */
export class Control {
  readonly #clock: Clock;
  readonly #changed: (change: ControlChange) => void;
  #generation = 0;
  #holder: string | undefined;
  #expiry: Disposable | undefined;
  #until = 0;

  constructor(clock: Clock, changed: (change: ControlChange) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  get controller(): Controller | null {
    return this.#holder === undefined
      ? null
      : { holder: this.#holder, generation: this.#generation };
  }

  take(holder: string, { takeover }: { readonly takeover: boolean }): number {
    const before = this.#holder ?? null;
    if (before !== null && !takeover) throw this.#refusal();
    this.#generation += 1;
    this.#holder = holder;
    this.#renewLease();
    this.#changed({ controller: this.controller, taken_from: before });
    return this.#generation;
  }

  /** Throws `not_controller` unless the caller may type now; renews the lease of a holder. */
  check(generation: number | undefined): void {
    if (generation === undefined) {
      if (this.#holder !== undefined) throw this.#refusal();
      return;
    }
    if (generation !== this.#generation || this.#holder === undefined) throw this.#refusal();
    this.#renewLease();
  }

  renew(generation: number): boolean {
    if (generation !== this.#generation || this.#holder === undefined) return false;
    this.#renewLease();
    return true;
  }

  release(generation: number): void {
    if (generation !== this.#generation || this.#holder === undefined) return;
    this.#drop();
  }

  handOver(): { generation: number; holder: string | null; lease_ms: number } {
    const left = Math.max(0, this.#until - this.#clock.monotonic());
    return {
      generation: this.#generation,
      holder: this.#holder ?? null,
      lease_ms: this.#holder === undefined ? 0 : left,
    };
  }

  /** The generation goes on in any case: whoever held an older one must not come back with it. */
  adopt(handed: {
    readonly generation: number;
    readonly holder: string | null;
    readonly lease_ms: number;
  }): void {
    this.#generation = handed.generation;
    if (handed.holder === null) return;
    this.#holder = handed.holder;
    this.#until = this.#clock.monotonic() + handed.lease_ms;
    this.#expiry = this.#clock.timer(handed.lease_ms, () => this.#expire());
  }

  /** At the end of the session: nobody holds it any more, without a word. */
  dispose(): void {
    this.#expiry?.[Symbol.dispose]();
    this.#expiry = undefined;
    this.#holder = undefined;
  }

  /** Every key renews it, so the one timer stays and looks again when it comes. */
  #renewLease(): void {
    this.#until = this.#clock.monotonic() + limits.lease_ms;
    this.#expiry ??= this.#clock.timer(limits.lease_ms, () => this.#expire());
  }

  #expire(): void {
    this.#expiry = undefined;
    const left = this.#until - this.#clock.monotonic();
    if (left > 0) this.#expiry = this.#clock.timer(left, () => this.#expire());
    else this.#drop();
  }

  #drop(): void {
    this.#expiry?.[Symbol.dispose]();
    this.#expiry = undefined;
    this.#holder = undefined;
    this.#changed({ controller: null, taken_from: null });
  }

  #refusal(): Fault {
    const sentence =
      this.#holder === undefined
        ? "your control of this session has ended; take it again"
        : `${this.#holder} controls this session; take over to type into it`;
    return new Fault("not_controller", sentence, {
      details: { holder: this.#holder ?? null, generation: this.#generation },
    });
  }
}
