import { setTimeout } from "node:timers/promises";
import { isPassing } from "#client/transport/refusal.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";

/** In a row. */
const ATTEMPTS = 20;
const PAUSE_MS = 250;

/** What asks again while the server or the host is away for a moment, and gives up after a while. */
export class Patience {
  readonly #signal: AbortSignal | undefined;
  #attempts = 0;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Somebody has answered. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Waits before the next attempt; throws the error when it is not one that passes, or when it has lasted too long. */
  async endure(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    this.#attempts += 1;
    const isWorthIt = error instanceof Fault && isPassing(error) && this.#attempts < ATTEMPTS;
    if (!isWorthIt) throw error;
    await setTimeout(PAUSE_MS, undefined, defined({ signal: this.#signal }));
  }

  /** For what changes nothing: asks until it is answered. */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await question();
        this.reset();
        return answer;
      } catch (error) {
        await this.endure(error);
      }
    }
  }
}
