import { exitCodeOf, sayFault } from "#cli/program/exit.ts";
import { applyEvent, recentConversation } from "#contract/conversation/conversation.ts";
import { turnEnds } from "#contract/conversation/notices.ts";
import { type TurnOutcome, untilTurnEnd } from "#contract/conversation/turn-outcome.ts";
import { Fault } from "#contract/fault.ts";
import { isFaultCode } from "#contract/faults.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import type { Questions } from "./answers.ts";
import type { TurnPrinter } from "./turn-printer.ts";

export interface ConversationParts {
  readonly runtime: Runtime;
  readonly printer: TurnPrinter;
  readonly questions: Questions;
  /** Aborted when we leave; the turn goes on. */
  readonly leaving: AbortSignal;
}

/** Turns of one session, shown as they run. */
export class Conversation {
  readonly #parts: ConversationParts;
  #isRunning = false;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  async say(content: string): Promise<TurnOutcome> {
    const { runtime, leaving: signal } = this.#parts;
    return await this.#follow(runtime.run([{ content }], { signal }));
  }

  /** Follows the turn that is under way, if there is one, to its end. */
  async join(): Promise<TurnOutcome | undefined> {
    const { runtime, questions, leaving: signal } = this.#parts;
    const { activity, turn_id, events_tail, ...state } = await runtime.snapshot();
    if (activity === "idle" || turn_id === null) return undefined;
    for (const approval of state.approvals) questions.ask({ approval });
    for (const question of state.elicitations) questions.ask({ question });
    return await this.#follow(
      untilTurnEnd(runtime.events({ since: events_tail, signal }), turn_id),
    );
  }

  async interrupt(): Promise<void> {
    try {
      await this.#parts.runtime.interrupt();
    } catch (error) {
      sayFault(error);
    }
  }

  async #follow(items: AsyncIterable<StreamItem<AnyEvent>>): Promise<TurnOutcome> {
    const { printer, questions, runtime } = this.#parts;
    let talk = recentConversation;
    this.#isRunning = true;
    try {
      for await (const { data } of items) {
        talk = applyEvent(talk, data);
        questions.hear(data);
        await printer.print(data);
      }
    } finally {
      this.#isRunning = false;
      await questions.settle();
    }
    if (talk.outcome !== undefined) return talk.outcome;
    this.#parts.leaving.throwIfAborted();
    throw new Fault(
      "host_unavailable",
      `the agent's process ended in the middle of the turn; reins run --session ${runtime.session_id} goes on`,
    );
  }
}

/** Says why a turn is not done, and answers the exit code that tells it. */
export function settleOutcome({ reason, code, message }: TurnOutcome): number {
  if (reason === "done") return 0;
  const why = message ?? turnEnds[reason];
  const fault = new Fault(isFaultCode(code) ? code : "internal", why);
  sayFault(fault);
  return exitCodeOf(fault);
}
