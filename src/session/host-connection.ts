import type { HostClient } from "#host/socket/client.ts";

export interface ConnectionEvents {
  readonly opened: (client: HostClient) => void;
  readonly lost: () => void;
}

/** One connection to a host for the whole process. A lost connection is opened again by the next request. */
export class HostConnection implements Disposable {
  readonly #open: () => Promise<HostClient>;
  readonly #events: ConnectionEvents;
  #opening: Promise<HostClient> | undefined;
  #current: HostClient | undefined;
  #wasLost = false;
  #isDisposed = false;

  constructor(open: () => Promise<HostClient>, events: ConnectionEvents) {
    this.#open = open;
    this.#events = events;
  }

  get current(): HostClient | undefined {
    return this.#current;
  }

  get state(): "idle" | "open" | "unreachable" {
    if (this.#current !== undefined) return "open";
    return this.#wasLost ? "unreachable" : "idle";
  }

  /** The same client for all callers, until it is lost. */
  get(): Promise<HostClient> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#current?.[Symbol.dispose]();
  }

  async #connect(): Promise<HostClient> {
    const client = await this.#open();
    this.#current = client;
    if (this.#isDisposed) client[Symbol.dispose]();
    void client.closed.then(() => {
      this.#opening = undefined;
      this.#current = undefined;
      this.#wasLost = true;
      if (!this.#isDisposed) this.#events.lost();
    });
    this.#events.opened(client);
    return client;
  }
}
