/** One kind of happening and its listeners. A throwing listener never stops the others. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on(listener: (value: T) => void): Disposable {
    // A wrapper of its own, so that the same function may listen twice.
    const entry = (value: T) => listener(value);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) {
      // One of those before it may have ended it.
      if (!this.#listeners.has(listener)) continue;
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  get size(): number {
    return this.#listeners.size;
  }
}
