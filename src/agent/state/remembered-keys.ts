/** The last keys under which something was taken in, and the turn that it started; the oldest are forgotten. */
export class RememberedKeys {
  readonly #keys = new Map<string, string | undefined>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  turnOf(key: string): string | undefined {
    return this.#keys.get(key);
  }

  add(key: string | undefined, turnId: string | undefined): void {
    if (key === undefined) return;
    this.#keys.delete(key);
    this.#keys.set(key, turnId);
    if (this.#keys.size <= this.#limit) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}
