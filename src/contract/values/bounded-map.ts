/** A map that forgets its oldest entry beyond the limit. Setting a key makes its entry the newest. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the value that was forgotten to make room. */
  set(key: K, value: V): V | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return undefined;
    // A Map keeps the order of insertion: the first entry is the oldest.
    for (const [oldest, forgotten] of this.#entries) {
      this.#entries.delete(oldest);
      return forgotten;
    }
    return undefined;
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  /** The oldest first. */
  keys(): MapIterator<K> {
    return this.#entries.keys();
  }

  /** The oldest first. */
  values(): MapIterator<V> {
    return this.#entries.values();
  }
}
