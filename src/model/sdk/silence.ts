import type { Clock } from "#base/clock.ts";

/** A local model may have to be loaded first. */
export const FIRST_BYTE_MS = 120_000;
/** A model that thinks may say nothing for minutes. */
export const SILENCE_MS = 240_000;

/**
 * Watches a provider's silence: time counts only while somebody waits for the provider, and every byte starts it anew,
 * those of a ping as well.
 */
export class Silence implements Disposable {
  readonly #clock: Clock;
  readonly #tooLong: () => void;
  #timer: Disposable | undefined;
  #allowedMs = FIRST_BYTE_MS;

  constructor(deps: { readonly clock: Clock; readonly tooLong: () => void }) {
    this.#clock = deps.clock;
    this.#tooLong = deps.tooLong;
  }

  /** Waits for the provider, with the clock running. */
  async during<T>(wait: () => Promise<T>): Promise<T> {
    this.#start();
    try {
      return await wait();
    } finally {
      this.#stop();
    }
  }

  /** The same fetch; what it receives breaks the silence. */
  listen(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      // A key is never carried to where an answer points.
      const response = await fetch(input, { ...init, redirect: "manual" });
      if (response.body === null) return response;
      const body = response.body.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform: (bytes, controller) => {
            this.#heard();
            controller.enqueue(bytes);
          },
        }),
      );
      const { status, statusText, headers } = response;
      return new Response(body, { status, statusText, headers });
    };
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #heard(): void {
    this.#allowedMs = SILENCE_MS;
    if (this.#timer !== undefined) this.#start();
  }

  #start(): void {
    this.#stop();
    this.#timer = this.#clock.timer(this.#allowedMs, this.#tooLong);
  }

  #stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
