import type { Progress } from "@modelcontextprotocol/client";
import type { Answer, Question, ToolContext } from "#agent/toolset.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";

/** A call that says nothing for so long is given up; the time in which a person is asked does not count. */
export const CALL_SILENT_MS = 10 * 60 * 1000;
/** What comes faster is not told: each report is an event. */
const REPORT_EVERY_MS = 200;
const QUESTION_CHARS = 64 * 1024;
/** Of one call, that wait for a person at the same time. */
export const QUESTIONS_MOST = 8;

/** One call, from its request to its answer. */
export class CallInFlight {
  readonly #context: ToolContext;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  #timer: Disposable | undefined;
  #reportedAt: number | undefined;
  #asking = 0;
  #lastAsked: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #problem: string | undefined;

  constructor(context: ToolContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
    this.#waitOn();
  }

  /** The turn was interrupted, or the call was given up. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#context.signal, this.#gone.signal]);
  }

  /** Why it was given up. */
  get problem(): string | undefined {
    return this.#problem;
  }

  report({ message, progress, total }: Progress): void {
    this.#waitOn();
    const now = this.#clock.monotonic();
    if (this.#reportedAt !== undefined && now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    const counted = total === undefined ? `${progress}` : `${progress} of ${total}`;
    this.#context.report((message ?? counted).slice(0, limits.detail_chars));
  }

  get canAsk(): boolean {
    return this.#asking < QUESTIONS_MOST;
  }

  /** One at a time: to who asks people, two questions of the same call are the same one. */
  async ask(question: Question): Promise<Answer> {
    this.#asking += 1;
    this.#waitOn();
    const answer = this.#lastAsked.then(() => this.#askNow(question));
    // A question that failed is not why the next one should.
    this.#lastAsked = answer.catch(() => undefined);
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#waitOn();
    }
  }

  giveUp(problem: string): void {
    this.#problem ??= problem;
    this.#gone.abort();
  }

  end(): void {
    this.#isOver = true;
    this.#waitOn();
  }

  async #askNow(question: Question): Promise<Answer> {
    return this.#isOver ? { action: "decline" } : await this.#context.elicit(question);
  }

  #waitOn(): void {
    this.#timer?.[Symbol.dispose]();
    // A question that is answered after the end must not set the timer again.
    if (this.#asking > 0 || this.#isOver) return;
    const minutes = CALL_SILENT_MS / 60_000;
    this.#timer = this.#clock.timer(CALL_SILENT_MS, () =>
      this.giveUp(`nothing was heard of the call for ${minutes} minutes; it was cancelled`),
    );
  }
}

/** Whom a question of the server is for: the protocol does not say which call it belongs to. */
export class CallsInFlight {
  readonly #calls = new Set<CallInFlight>();
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  open(context: ToolContext): CallInFlight {
    const call = new CallInFlight(context, this.#clock);
    this.#calls.add(call);
    return call;
  }

  close(call: CallInFlight): void {
    this.#calls.delete(call);
    call.end();
  }

  /**
   * With no call, or with several, it is declined: a person must not answer it as part of another call. So is one of a
   * call that has too many waiting.
   */
  async answer(question: Question): Promise<Answer> {
    const [call, ...others] = this.#calls;
    const isTooLong = JSON.stringify(question).length > QUESTION_CHARS;
    if (call?.canAsk !== true || others.length > 0 || isTooLong) {
      this.#log.warn("a question of an MCP server was declined", { calls: this.#calls.size });
      return { action: "decline" };
    }
    return await call.ask(question);
  }
}
