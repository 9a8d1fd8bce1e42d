import type { AgentState } from "#agent/state/agent-state.ts";
import type { Question, Answer as Reply } from "#agent/toolset.ts";
import type { Clock } from "#base/clock.ts";
import { randomId } from "#base/random-id.ts";
import type { AgentEventBody, AgentEventOf } from "#contract/agent/events.ts";
import { Fault } from "#contract/fault.ts";

type Emit = (body: AgentEventBody) => void;
export type Decision = Pick<AgentEventOf<"approval.resolved">, "decision" | "reason" | "by">;
type AskedApproval = Pick<
  AgentEventOf<"approval.requested">,
  "kind" | "call_id" | "tool" | "input" | "message"
>;

/** Who asks, and until when. */
export interface Asker {
  readonly emit: Emit;
  readonly subagent_id: string | undefined;
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly resolve: (answer: never) => void;
  /** The answer stands under the name of who asked. */
  readonly emit: Emit;
}

interface Early {
  readonly id: string;
  readonly answer: Decision | Reply;
}

/**
 * What people are asked. A question has an id, its waiter exists before anybody can see it, and exactly one answer
 * counts; the rest is told that nothing is pending. A question of an earlier life that was parked is the same question
 * in this one, also when its answer comes before we have got back to where it was asked.
 */
export class Questions {
  readonly #fold: AgentState;
  readonly #emit: Emit;
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Waiter>();
  /** Answers whose questions are yet to be asked again, by what is asked. */
  readonly #early = new Map<string, Early>();
  #waitedMs = 0;
  #waitsSince: number | undefined;
  readonly isHeadless: boolean;

  constructor(
    { fold, emit, clock }: { fold: AgentState; emit: Emit; clock: Clock },
    isHeadless: boolean,
  ) {
    this.#fold = fold;
    this.#emit = emit;
    this.#clock = clock;
    this.isHeadless = isHeadless;
  }

  /** For how long people were waited for. */
  get waitedMs(): number {
    const now = this.#clock.monotonic();
    return this.#waitedMs + (this.#waitsSince === undefined ? 0 : now - this.#waitsSince);
  }

  get isWaiting(): boolean {
    return this.#waiters.size > 0;
  }

  approve(asked: AskedApproval, asker: Asker): Promise<Decision> {
    const { emit, subagent_id } = asker;
    const key = keyOf({ ...asked, subagent_id });
    const pending = [...this.#fold.talk.approvals].find((known) => keyOf(known) === key);
    const approval_id = pending?.approval_id ?? randomId("apr");
    return this.#ask<Decision>(
      { id: approval_id, key, asker },
      {
        ask: () => {
          if (pending === undefined) emit({ type: "approval.requested", approval_id, ...asked });
        },
        headless: { decision: "reject", by: "headless" },
        interrupted: { decision: "reject", by: "interrupt" },
        give: (decision) => emit({ type: "approval.resolved", approval_id, ...decision }),
      },
    );
  }

  elicit(asked: Question & { readonly call_id: string }, asker: Asker): Promise<Reply> {
    const { emit, subagent_id } = asker;
    const key = keyOf({ kind: "elicitation", call_id: asked.call_id, subagent_id });
    const pending = [...this.#fold.talk.elicitations].find(
      (known) => keyOf({ kind: "elicitation", ...known }) === key,
    );
    const elicitation_id = pending?.elicitation_id ?? randomId("eli");
    return this.#ask<Reply>(
      { id: elicitation_id, key, asker },
      {
        ask: () => {
          if (pending === undefined)
            emit({ type: "elicitation.requested", elicitation_id, ...asked });
        },
        headless: { action: "decline" },
        interrupted: { action: "cancel" },
        give: (reply) => {
          const by = asker.signal.aborted ? "interrupt" : "headless";
          emit({ type: "elicitation.resolved", elicitation_id, ...reply, by });
        },
      },
    );
  }

  /** The answer of a person. */
  answerApproval(approval_id: string, decision: Omit<Decision, "by">): void {
    const pending = this.#fold.talk.approvals.find((asked) => asked.approval_id === approval_id);
    if (pending === undefined) throw nothingPending("approval", approval_id);
    const answer: Decision = { ...decision, by: "user" };
    this.#settle({ id: approval_id, answer }, keyOf(pending), {
      type: "approval.resolved",
      approval_id,
      ...answer,
    });
  }

  answerElicitation(elicitation_id: string, answer: Reply): void {
    const pending = this.#fold.talk.elicitations.find(
      (asked) => asked.elicitation_id === elicitation_id,
    );
    if (pending === undefined) throw nothingPending("elicitation", elicitation_id);
    this.#settle({ id: elicitation_id, answer }, keyOf({ kind: "elicitation", ...pending }), {
      type: "elicitation.resolved",
      elicitation_id,
      ...answer,
      by: "user",
    });
  }

  #settle(early: Early, key: string, event: AgentEventBody): void {
    const waiter = this.#waiters.get(early.id);
    this.#forget(early.id);
    (waiter?.emit ?? this.#emit)(event);
    // The waiter of an approval's id waits for a decision, that of an elicitation's for a reply.
    if (waiter !== undefined) waiter.resolve(early.answer as never);
    else this.#early.set(key, early);
  }

  async #ask<T extends Decision | Reply>(
    { id, key, asker }: { readonly id: string; readonly key: string; readonly asker: Asker },
    asking: Asking<T>,
  ): Promise<T> {
    const early = this.#early.get(key);
    if (early !== undefined) {
      this.#early.delete(key);
      // As above.
      return early.answer as T;
    }
    const { signal, emit } = asker;
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#waiters.set(id, { resolve, emit });
    this.#waitsSince ??= this.#clock.monotonic();
    const end = (answer: T) => {
      if (!this.#forget(id)) return;
      asking.give(answer);
      resolve(answer);
    };
    const abort = () => end(asking.interrupted);
    asking.ask();
    if (this.isHeadless) end(asking.headless);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #forget(id: string): boolean {
    const wasThere = this.#waiters.delete(id);
    if (this.#waiters.size === 0) {
      this.#waitedMs = this.waitedMs;
      this.#waitsSince = undefined;
    }
    return wasThere;
  }
}

interface Asking<T> {
  readonly ask: () => void;
  readonly headless: T;
  readonly interrupted: T;
  /** Writes down an answer that is not a person's. */
  readonly give: (answer: T) => void;
}

interface Identity {
  readonly kind: string;
  readonly call_id?: string | undefined;
  readonly subagent_id?: string | undefined;
}

/** The same call asks the same. */
function keyOf({ kind, call_id = "", subagent_id = "" }: Identity): string {
  return [kind, subagent_id, call_id].join(" ");
}

function nothingPending(what: string, id: string): Fault {
  return new Fault(
    "nothing_pending",
    `no ${what} ${id} waits for an answer; it may have been answered already`,
    { details: { [`${what}_id`]: id } },
  );
}
