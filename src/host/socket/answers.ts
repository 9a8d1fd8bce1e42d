import { limits } from "#contract/limits.ts";
import type { HostMethod } from "./methods.ts";

export interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export interface AnswersDeps {
  readonly answerMs?: number | undefined;
  /** Asks the host for something that it answers at once. */
  readonly probe: () => Promise<unknown>;
  /** The fault of a request whose answer did not come. */
  readonly describeSilence: () => Promise<unknown>;
}

/** The answer comes when programs have ended or started. Meanwhile the host is asked whether it still answers. */
const WAITING_METHODS: readonly HostMethod[] = [
  "session.create",
  "session.revive",
  "session.close",
  "host.shutdown",
];

/** What these give has to be given back when their answer comes too late. */
const KEPT_METHODS: readonly HostMethod[] = ["session.watch", "session.attach"];
const LATE_KEPT = 1000;

/**
 * A limit runs in steps: when this process itself was stopped, or the machine slept, only one of them has passed, and the
 * answer that came meanwhile is read before the next.
 */
const STEPS = 6;

interface Pending extends Waiting<unknown> {
  readonly method: HostMethod;
  readonly timer: NodeJS.Timeout;
  steps: number;
  waited_ms: number;
}

/** The requests of one connection that have no answer yet. One that waits too long fails alone. */
export class Answers {
  readonly #deps: AnswersDeps;
  readonly #pending = new Map<number, Pending>();
  readonly #late = new Map<number, HostMethod>();

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
  }

  expect(id: number, method: HostMethod, waiting: Waiting<unknown>): void {
    const timer = setTimeout(() => this.#step(id), this.#limitOf(method) / STEPS);
    // The connection keeps the process alive, if anything does.
    timer.unref();
    this.#pending.set(id, { ...waiting, method, timer, steps: 0, waited_ms: 0 });
  }

  /** The request that this answer belongs to; undefined when it has failed already. */
  take(id: number): Waiting<unknown> | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  /** Which method an answer belongs to that came too late, if it gave something to keep. */
  takeLate(id: number): HostMethod | undefined {
    const method = this.#late.get(id);
    this.#late.delete(id);
    return method;
  }

  rejectAll(error: unknown): void {
    for (const id of [...this.#pending.keys()]) this.take(id)?.reject(error);
  }

  #limitOf(method: HostMethod): number {
    if (method === "host.upgrade") return limits.host_upgrade_ms;
    return this.#deps.answerMs ?? limits.host_answer_ms;
  }

  #step(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.steps += 1;
    if (pending.steps % STEPS !== 0) {
      pending.timer.refresh();
      return;
    }
    pending.waited_ms += this.#limitOf(pending.method);
    const mayTakeLonger =
      WAITING_METHODS.includes(pending.method) && pending.waited_ms < limits.host_wait_ms;
    void (mayTakeLonger ? this.#probe(id, pending) : this.#fail(id, pending));
  }

  async #probe(id: number, pending: Pending): Promise<void> {
    try {
      await this.#deps.probe();
      if (this.#pending.has(id)) pending.timer.refresh();
    } catch (error) {
      this.take(id)?.reject(error);
    }
  }

  async #fail(id: number, { method }: Pending): Promise<void> {
    const waiting = this.take(id);
    if (KEPT_METHODS.includes(method) && this.#late.size < LATE_KEPT) this.#late.set(id, method);
    waiting?.reject(await this.#deps.describeSilence());
  }
}
