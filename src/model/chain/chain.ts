import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { Fault } from "#contract/fault.ts";
import { findModelFailure, type ModelFailure } from "#model/failure.ts";
import type { Model, ModelChunk, ModelRequest } from "#model/model.ts";

/*
 * One answer by the first model that can give it:
 *
 *   broken (5xx, timeout, cut, garbage)  the same model again, 1 + retries times, with backoff; then the next
 *   refused (4xx, 429, no key)           the next at once; who answers then stays first for the cooldown
 *   429 with nobody else to ask          the same again after Retry-After
 *   no model left                        a Fault with every model's reason
 *
 * Each new attempt is announced by `retry`, which voids what was said before.
 */

const RETRIES = 2;
const COOLDOWN_MS = 60_000;
const BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 2000;
const JITTER = 0.1;
/** Who is told to wait longer fails instead. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface ChainDeps {
  /** Primary first; at least one. */
  readonly models: readonly [Model, ...Model[]];
  readonly retries?: number | undefined;
  readonly cooldown_ms?: number | undefined;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

type Failed = ModelFailure & { readonly fault: Fault };

/** Models behind one another; it remembers who stands in for a primary that refused. */
export class ModelChain implements Model {
  readonly #deps: ChainDeps;
  readonly #retries: number;
  #standIn: { readonly model: Model; readonly until: number } | undefined;

  constructor(deps: ChainDeps) {
    this.#deps = deps;
    this.#retries = Math.max(0, deps.retries ?? RETRIES);
  }

  get id(): string {
    return this.#first().id;
  }

  get context_limit(): number | null {
    return this.#first().context_limit;
  }

  get supports_images(): boolean {
    return this.#first().supports_images;
  }

  async *stream(
    request: ModelRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<ModelChunk> {
    const order = this.#order();
    // Each is a model that is asked no more, so their number says whose turn it is.
    const failures: Failed[] = [];
    for (let attempt = 1; ; attempt += 1) {
      const model = order[failures.length];
      if (model === undefined) throw allFailed(failures);
      const failed = yield* tryOnce(model, request, signal);
      if (failed === undefined) return this.#answered(model, failures);
      const waitMs = this.#waitBeforeAgain(failed, { attempt, isAlone: order.length === 1 });
      if (waitMs === undefined) failures.push(failed);
      const next = order[failures.length];
      if (next === undefined) throw allFailed(failures);
      const reason = failed.fault.message;
      yield { type: "retry", reason, attempt, failed_model: model.id, model: next.id };
      if (waitMs === undefined) attempt = 0;
      await pause(this.#deps.clock, waitMs ?? 0, signal);
      signal.throwIfAborted();
    }
  }

  /** Undefined when asking the same model again is of no use. */
  #waitBeforeAgain(
    failed: Failed,
    { attempt, isAlone }: { readonly attempt: number; readonly isAlone: boolean },
  ): number | undefined {
    if (attempt > this.#retries) return undefined;
    const backoff = Math.min(BACKOFF_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS);
    const waitMs = backoff * (1 + JITTER * (2 * this.#deps.random() - 1));
    if (isBroken(failed)) return waitMs;
    if (failed.cause !== "rate_limited" || !isAlone) return undefined;
    const asked = failed.retry_after_ms;
    if (asked === undefined) return waitMs;
    return asked <= LONGEST_RETRY_AFTER_MS ? asked : undefined;
  }

  #answered(model: Model, failures: readonly Failed[]): void {
    if (model === this.#deps.models[0]) {
      this.#standIn = undefined;
      return;
    }
    if (failures.every(isBroken)) return;
    const until = this.#deps.clock.monotonic() + (this.#deps.cooldown_ms ?? COOLDOWN_MS);
    this.#standIn = { model, until };
  }

  #first(): Model {
    const standIn = this.#standIn;
    if (standIn === undefined || this.#deps.clock.monotonic() >= standIn.until) {
      return this.#deps.models[0];
    }
    return standIn.model;
  }

  /** Those before a stand-in are asked last: better a late answer than none. */
  #order(): readonly Model[] {
    const { models } = this.#deps;
    const start = models.indexOf(this.#first());
    return [...models.slice(start), ...models.slice(0, start)];
  }
}

/** Gives the answer, or says why there is none. */
async function* tryOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, Failed | undefined> {
  try {
    yield* model.stream(request, { signal });
    return undefined;
  } catch (error) {
    return toFailed(error, signal);
  }
}

/** It may work the next time. */
function isBroken({ cause }: ModelFailure): boolean {
  return cause === "unavailable" || cause === "timeout" || cause === "malformed";
}

/** Aborts, bugs and a script that is wrong concern nobody else. */
function toFailed(error: unknown, signal: AbortSignal): Failed {
  signal.throwIfAborted();
  const failure = findModelFailure(error);
  if (failure === undefined || failure.cause === "script" || !(error instanceof Fault)) throw error;
  return { ...failure, fault: error };
}

function allFailed(failures: readonly Failed[]): Fault {
  const [only] = failures;
  if (only === undefined) throw new Error("a chain failed without a failure");
  if (failures.length === 1) return only.fault;
  // A shorter conversation would help one of them.
  const told =
    failures.find((each) => each.cause === "context_overflow") ?? failures.at(-1) ?? only;
  return new Fault(
    "model_failed",
    `no model answered: ${failures.map((each) => each.fault.message).join("; ")}`,
    {
      details: {
        ...told.fault.details,
        failures: failures.map(({ fault }) => ({ message: fault.message, ...fault.details })),
      },
    },
  );
}
