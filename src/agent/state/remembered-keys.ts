import { BoundedMap } from "#contract/values/bounded-map.ts";
/** The last keys under which something was taken in, and the turn that it started; the oldest are forgotten. */
export class RememberedKeys {
  readonly #keys: BoundedMap<string, string | undefined>;

  constructor(limit: number) {
    this.#keys = new BoundedMap(limit);
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  turnOf(key: string): string | undefined {
    return this.#keys.get(key);
  }

  add(key: string | undefined, turnId: string | undefined): void {
    if (key === undefined) return;
    this.#keys.set(key, turnId);
  }
}
