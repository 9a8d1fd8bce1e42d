import { addAbortListener } from "node:events";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** Whose searches they are: what they have taken decides when the next one has its turn. */
export interface SearchOwner {
  usedMs: number;
}

interface Job {
  readonly owner: SearchOwner;
  readonly expectedMs: number;
  readonly run: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Each wait has at most one search under way. */
const QUEUED = limits.waits;

/**
 * Searches one after the other, with a turn of the event loop between two. The one that has used least, with what it
 * is expected to take, goes first: so many waits with much to search do not delay one with little.
 */
export class SearchTurns implements Disposable {
  #jobs: Job[] = [];
  #isPumping = false;
  #isDisposed = false;

  get waiting(): number {
    return this.#jobs.length;
  }

  take<T>(
    owner: SearchOwner,
    work: { readonly expectedMs: number; readonly search: () => T },
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isDisposed) throw shuttingDown();
    if (this.#jobs.length >= QUEUED)
      throw new Fault("too_many", `${QUEUED} searches wait already; try again later`);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => resolve(work.search());
    const job = { owner, expectedMs: work.expectedMs, run, reject };
    this.#jobs.push(job);
    this.#pump();
    if (signal === undefined) return promise;
    const abort = addAbortListener(signal, () => {
      this.#jobs = this.#jobs.filter((other) => other !== job);
      reject(signal.reason);
    });
    return promise.finally(() => abort[Symbol.dispose]());
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const { reject } of this.#jobs.splice(0)) reject(shuttingDown());
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#runNext();
      if (this.#jobs.length > 0) this.#pump();
    });
  }

  #runNext(): void {
    const [first] = this.#jobs;
    if (first === undefined) return;
    const cost = ({ owner, expectedMs }: Job) => owner.usedMs + expectedMs;
    const next = this.#jobs.reduce((best, job) => (cost(job) < cost(best) ? job : best), first);
    this.#jobs = this.#jobs.filter((job) => job !== next);
    const started = performance.now();
    try {
      next.run();
    } catch (error) {
      next.reject(error);
    }
    next.owner.usedMs += performance.now() - started;
  }
}

function shuttingDown(): Fault {
  return new Fault("shutting_down", "the server is shutting down");
}
