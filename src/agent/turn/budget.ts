import type { AgentState } from "#agent/state/agent-state.ts";
import type { Clock } from "#base/clock.ts";
import type { AgentEventOf } from "#contract/agent/events.ts";
import type { Usage } from "#contract/agent/message.ts";
import type { RunLimits } from "#contract/agent/spec.ts";
import { defined } from "#contract/values/defined.ts";
import type { ModelUsage } from "#model/model.ts";
import type { Questions } from "./approvals.ts";

interface Exhausted {
  readonly limit: "max_cost" | "max_tokens" | "max_time";
  readonly message: string;
}

interface BudgetDeps {
  readonly fold: AgentState;
  readonly clock: Clock;
  readonly questions: Questions;
  readonly limits: RunLimits;
}

/** What a session may use up, its sub-agents included. */
export class Budget {
  readonly #deps: BudgetDeps;
  readonly #activeBefore: number;
  #workedMs = 0;
  #workers = 0;
  #workingSince = 0;
  #waitedSince = 0;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
    this.#activeBefore = deps.fold.active_ms;
  }

  /** The clock runs while anybody works. */
  work(): Disposable {
    if (this.#workers === 0) {
      this.#workingSince = this.#deps.clock.monotonic();
      this.#waitedSince = this.#deps.questions.waitedMs;
    }
    this.#workers += 1;
    return {
      [Symbol.dispose]: () => {
        this.#workers -= 1;
        if (this.#workers === 0) this.#workedMs += this.#runningMs();
      },
    };
  }

  get activeMs(): number {
    const running = this.#workers === 0 ? 0 : this.#runningMs();
    return Math.round(this.#activeBefore + this.#workedMs + running);
  }

  /** What the event of this use says. */
  describe(
    model: string,
    spent: ModelUsage,
  ): Pick<AgentEventOf<"usage.updated">, "model" | "usage" | "total" | "active_ms"> {
    const usage = asUsage(spent);
    return {
      model,
      usage,
      total: sum(this.#deps.fold.talk.usage, usage),
      active_ms: this.activeMs,
    };
  }

  exhausted(): Exhausted | undefined {
    const { limits, fold } = this.#deps;
    const { max_cost, max_tokens, max_time_ms } = limits;
    const { cost, input_tokens, output_tokens } = fold.talk.usage;
    const tokens = input_tokens + output_tokens;
    if (max_cost !== undefined && cost !== null && cost >= max_cost)
      return { limit: "max_cost", message: `$${cost.toFixed(4)} of $${max_cost} are spent` };
    if (max_tokens !== undefined && tokens >= max_tokens)
      return { limit: "max_tokens", message: `${tokens} of ${max_tokens} tokens are used` };
    if (max_time_ms !== undefined && this.activeMs >= max_time_ms) {
      const message = `it has worked for ${this.activeMs} of ${max_time_ms} ms`;
      return { limit: "max_time", message };
    }
    return undefined;
  }

  #runningMs(): number {
    const { clock, questions } = this.#deps;
    const waited = questions.waitedMs - this.#waitedSince;
    return Math.max(0, clock.monotonic() - this.#workingSince - waited);
  }
}

function asUsage(spent: ModelUsage): Usage {
  const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, cost } = spent;
  return {
    input_tokens,
    output_tokens,
    ...defined({ cached_input_tokens, reasoning_tokens }),
    cost,
  };
}

/** A price that is not known leaves the sum of those that are. */
function sum(a: Usage, b: Usage): Usage {
  const cached = (a.cached_input_tokens ?? 0) + (b.cached_input_tokens ?? 0);
  const reasoning = (a.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0);
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    ...(cached === 0 ? {} : { cached_input_tokens: cached }),
    ...(reasoning === 0 ? {} : { reasoning_tokens: reasoning }),
    cost: a.cost === null && b.cost === null ? null : (a.cost ?? 0) + (b.cost ?? 0),
  };
}
