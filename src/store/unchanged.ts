import type { Database } from "./database.ts";

/** Answers that are kept at a time. */
const KEPT = 256;

/** What was read, for as long as nobody, in this process or in another, has changed anything in the database. */
export class Unchanged<T> {
  readonly #database: Pick<Database, "revision">;
  readonly #kept = new Map<string, T>();
  #revision = "";

  constructor(database: Pick<Database, "revision">) {
    this.#database = database;
  }

  /** The same answer as before, or what `read` answers now. That there is nothing is not kept. */
  find(key: string, read: () => T | undefined): T | undefined {
    // Asked before it is read: what changes in between is then found to have changed.
    const revision = this.#database.revision();
    if (revision !== this.#revision) this.#kept.clear();
    this.#revision = revision;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const found = read();
    if (found === undefined) return undefined;
    if (this.#kept.size >= KEPT) this.#kept.clear();
    this.#kept.set(key, found);
    return found;
  }
}
