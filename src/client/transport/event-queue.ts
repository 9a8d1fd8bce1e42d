/** What an event costs beside the bytes that it carries, so that many small ones are bounded as well. */
const EVENT_COST_BYTES = 256;
/** Taken places are given back in one go. */
const COMPACT_EVENTS = 1024;

/** Events on their way to one reader, in order. Who stops reading may begin again and misses nothing. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #taken: (event: T) => void;
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  #events: { readonly event: T; readonly cost: number }[] = [];
  #head = 0;
  #cost = 0;
  #isOver = false;

  /** `taken` is told of every event that the reader has got. */
  constructor(taken: (event: T) => void) {
    this.#taken = taken;
  }

  /** Bytes that nobody has read. */
  get cost(): number {
    return this.#cost;
  }

  push(event: T, bytes = 0): void {
    if (this.#isOver) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      const cost = bytes + EVENT_COST_BYTES;
      this.#cost += cost;
      this.#events.push({ event, cost });
      return;
    }
    this.#waiting = undefined;
    this.#taken(event);
    waiting.resolve({ done: false, value: event });
  }

  /** What is in it is still read. */
  end(): void {
    this.#isOver = true;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => this.#next(),
      return: () => Promise.resolve({ done: true, value: undefined }),
    };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    const first = this.#events[this.#head];
    if (first !== undefined) {
      this.#head += 1;
      this.#cost -= first.cost;
      if (this.#head >= COMPACT_EVENTS || this.#head === this.#events.length) this.#compact();
      this.#taken(first.event);
      return Promise.resolve({ done: false, value: first.event });
    }
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  #compact(): void {
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }
}
