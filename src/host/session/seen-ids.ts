/** The last so many ids, so that input which is sent again is applied once. */
export class SeenIds {
  readonly #limit: number;
  readonly #seen = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The oldest first. */
  list(): string[] {
    return [...this.#seen];
  }

  has(id: string): boolean {
    return this.#seen.has(id);
  }

  add(id: string): void {
    this.#seen.add(id);
    if (this.#seen.size <= this.#limit) return;
    // A Set keeps the order of insertion: the first is the oldest.
    const [oldest] = this.#seen;
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
