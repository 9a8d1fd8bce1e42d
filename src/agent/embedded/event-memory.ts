import type { AgentEvent } from "#contract/agent/events.ts";
import { Fault } from "#contract/fault.ts";
import type { StreamItem } from "#contract/operations.ts";

/** What an embedded session remembers; who comes later than this is told. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** An events log in memory: as on disk, an event's id is the offset behind its line. */
export class EventMemory {
  readonly #items: { readonly id: number; readonly from: number; readonly data: AgentEvent }[] = [];
  #tail = 0;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  get tail(): number {
    return this.#tail;
  }

  get first(): number {
    return this.#items[0]?.from ?? this.#tail;
  }

  append(data: AgentEvent): void {
    const from = this.#tail;
    this.#tail += Buffer.byteLength(JSON.stringify(data)) + 1;
    this.#items.push({ id: this.#tail, from, data });
    while (this.#tail - this.first > KEPT_BYTES) this.#items.shift();
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Everything from an offset on; with `follow` also what comes, until the signal or the end of the session. */
  async *read({
    since,
    follow,
    signal,
  }: Reading): AsyncGenerator<StreamItem<AgentEvent>, void, void> {
    let next = since;
    for (;;) {
      signal?.throwIfAborted();
      if (next < this.first) throw outOfRange(next, this);
      const at = this.#items.findIndex(({ from }) => from >= next);
      const found = at === -1 ? [] : this.#items.slice(at);
      for (const { id, data } of found) {
        next = id;
        yield { id, data };
      }
      if (found.length > 0) continue;
      if (!follow || this.#isClosed) return;
      await this.#moved(signal);
    }
  }

  check(since: number): void {
    const isThere = since === this.#tail || this.#items.some(({ from }) => from === since);
    if (!isThere) throw outOfRange(since, this);
  }

  #moved(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", stop, { once: true });
    return promise.finally(() => signal?.removeEventListener("abort", stop));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

interface Reading {
  readonly since: number;
  readonly follow: boolean;
  readonly signal: AbortSignal | undefined;
}

function outOfRange(since: number, { first, tail }: EventMemory): Fault {
  return new Fault(
    "offset_out_of_range",
    `since: ${since} is no beginning of an event in ${first}-${tail}`,
    {
      details: { first, tail },
    },
  );
}
