import { limits } from "#contract/limits.ts";

interface Call {
  readonly tool: string;
  readonly input: unknown;
}

/** Sees when a model asks for the very same thing again and again. Asking how something is getting on is no loop. */
export class LoopDetector {
  #last = "";
  #count = 0;

  /** True when this was one time too many; it begins to count anew. */
  sees(calls: readonly Call[], isPolling: (tool: string) => boolean): boolean {
    if (calls.every(({ tool }) => isPolling(tool))) return false;
    const batch = JSON.stringify(calls.map(({ tool, input }) => [tool, sorted(input)]));
    this.#count = batch === this.#last ? this.#count + 1 : 1;
    this.#last = batch;
    if (this.#count < limits.identical_calls) return false;
    this.#count = 0;
    this.#last = "";
    return true;
  }
}

/** The order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, entry]) => [name, sorted(entry)]));
}
