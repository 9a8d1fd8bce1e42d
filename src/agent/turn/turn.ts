import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { isObject } from "#contract/values/is-object.ts";
import { type Answer, streamAnswer } from "./answer.ts";
import { listTools, refuseCalls, runCalls } from "./calls.ts";
import { compact, estimate, FULL } from "./compaction.ts";
import { LoopDetector } from "./loop-detector.ts";
import { buildMessages, loadImages } from "./model-messages.ts";
import type { Actor, Stage, TurnEnd } from "./stage.ts";

/**
 *   read what waits ─► make the calls that are open ─► budget, iterations, context ─► ask the model ─┐
 *        ▲                                                                                          │
 *        └──────────── calls, a message that came meanwhile, a hook that wants more ◄───────────────┤
 *                                                                         nothing of that: done ◄────┘
 */

/** Messages that came while it worked; a sub-agent has none. */
export interface Inbox {
  /** Reads all that wait; how many there were. */
  drain(): Promise<number>;
}

/** What is added when somebody allows more iterations. */
const MORE_ITERATIONS = 10;
/** How often that is allowed by itself, where nobody can be asked. */
const MORE_BY_ITSELF = 5;
/** How often in a row a context may be made smaller because it did not fit. */
const OVERFLOWS = 2;
/** How often in a row hooks may refuse to let it stop. */
const STOPS_REFUSED = 5;

const NO_INBOX: Inbox = { drain: () => Promise.resolve(0) };
const DONE: TurnEnd = { reason: "done" };

/** Works until there is nothing more to do. What it throws is a model that failed, or an interrupt. */
export async function runTurn(
  actor: Actor,
  stage: Stage,
  inbox: Inbox = NO_INBOX,
): Promise<TurnEnd> {
  using _working = stage.budget.work();
  return await new Turn(actor, stage, inbox).run();
}

class Turn {
  readonly #actor: Actor;
  readonly #stage: Stage;
  readonly #inbox: Inbox;
  readonly #loops = new LoopDetector();
  #iterations = 0;
  #allowed: number;
  #extensions = 0;
  #stopsRefused = 0;
  #isUncompactable = false;

  constructor(actor: Actor, stage: Stage, inbox: Inbox) {
    this.#actor = actor;
    this.#stage = stage;
    this.#inbox = inbox;
    this.#allowed = actor.cast.definition.max_iterations;
  }

  async run(): Promise<TurnEnd> {
    for (;;) {
      const end = (await this.#prepare()) ?? (await this.#step());
      if (end !== undefined) return end;
    }
  }

  /** Everything that comes before the model is asked. */
  async #prepare(): Promise<TurnEnd | undefined> {
    await runCalls(this.#actor, this.#stage);
    this.#actor.signal.throwIfAborted();
    const { stopped } = this.#actor;
    if (stopped !== undefined) return { reason: "interrupted", message: stopped };
    await this.#inbox.drain();
    const end = this.#checkBudget() ?? (await this.#checkIterations());
    if (end === undefined) await this.#makeRoom();
    return end;
  }

  /** One answer; undefined when there is more to do. */
  async #step(): Promise<TurnEnd | undefined> {
    const answer = await this.#ask();
    this.#iterations += 1;
    if (this.#actor.conversation.openCalls.length > 0) return this.#checkLoop();
    if ((await this.#inbox.drain()) > 0 || !(await this.#mayStop(answer))) return undefined;
    // What came while the hooks ran.
    return (await this.#inbox.drain()) > 0 ? undefined : DONE;
  }

  #checkBudget(): TurnEnd | undefined {
    const exhausted = this.#stage.budget.exhausted();
    if (exhausted === undefined) return undefined;
    this.#actor.emit({ type: "limit.reached", ...exhausted });
    return { reason: "budget", message: exhausted.message };
  }

  async #checkIterations(): Promise<TurnEnd | undefined> {
    if (this.#allowed === 0 || this.#iterations < this.#allowed) return undefined;
    const message = `it has asked its model ${this.#iterations} times, which is as often as it may`;
    this.#actor.emit({ type: "limit.reached", limit: "max_iterations", message });
    if (!(await this.#mayGoOn(message))) return { reason: "limit", message };
    this.#allowed += MORE_ITERATIONS;
    return undefined;
  }

  async #mayGoOn(message: string): Promise<boolean> {
    const { questions, permissions } = this.#stage;
    if (questions.isHeadless) {
      this.#extensions += 1;
      return permissions.safety === "autonomous" && this.#extensions <= MORE_BY_ITSELF;
    }
    const asked = { kind: "max_iterations", message } as const;
    const { decision } = await questions.approve(asked, this.#actor);
    this.#actor.signal.throwIfAborted();
    return decision !== "reject";
  }

  async #makeRoom(): Promise<void> {
    const actor = this.#actor;
    const { context_limit } = actor.cast.model();
    if (context_limit === null || actor.contextTokens <= context_limit * FULL) return;
    if (this.#isUncompactable) return;
    const { outcome } = await compact(actor, this.#stage, { cause: "context" });
    // Trying again before each call would cost as much as the calls; one that really does not fit says so.
    this.#isUncompactable = outcome !== "applied";
  }

  /** One answer. A context that does not fit is made smaller and asked again, a bounded number of times. */
  async #ask(): Promise<Answer> {
    for (let overflows = 0; ; overflows += 1) {
      try {
        return await this.#askOnce();
      } catch (error) {
        if (!isOverflow(error) || overflows === OVERFLOWS) throw error;
        const message = "the conversation did not fit into the model's context";
        this.#actor.emit({ type: "warning", code: "context_overflow", message });
        const { outcome } = await compact(this.#actor, this.#stage, { cause: "overflow" });
        if (outcome !== "applied") throw error;
      }
    }
  }

  async #askOnce(): Promise<Answer> {
    const actor = this.#actor;
    const { cast, conversation, emit, signal } = actor;
    const { definition } = cast;
    const { ports, budget } = this.#stage;
    const model = cast.model();
    const describe = () => ({
      ...conversation.context,
      num_history_items: definition.num_history_items,
      supports_images: model.supports_images,
    });
    const images = await loadImages(describe, ports.blobs);
    const messages = buildMessages({
      system: cast.instruction(),
      ...describe(),
      readBlob: (name) => images.get(name),
    });
    const tools = listTools(actor).map(({ name, description, input_schema }) => ({
      name,
      description,
      input_schema,
    }));
    const { structured_output } = definition;
    const request = { messages, tools, structured_output };
    const answer = await streamAnswer(model, request, { clock: ports.clock, emit, signal });
    const { input_tokens, output_tokens } = answer.usage;
    actor.contextTokens =
      input_tokens + output_tokens > 0 ? input_tokens + output_tokens : estimate(actor);
    emit({
      type: "usage.updated",
      ...budget.describe(answer.model, answer.usage),
      context_tokens: actor.contextTokens,
      context_limit: model.context_limit,
    });
    return answer;
  }

  #checkLoop(): TurnEnd | undefined {
    const calls = this.#actor.conversation.openCalls;
    const polling = new Set(
      listTools(this.#actor).flatMap(({ name, polling: isPolling }) => (isPolling ? [name] : [])),
    );
    if (!this.#loops.sees(calls, (tool) => polling.has(tool))) return undefined;
    const message = `it made the very same call ${limits.identical_calls} times in a row`;
    refuseCalls(this.#actor, `This call was not made: ${message}.`);
    this.#actor.emit({ type: "limit.reached", limit: "identical_calls", message });
    return { reason: "loop", message };
  }

  /** A hook may want more. */
  async #mayStop({ text }: Answer): Promise<boolean> {
    const { cast, emit, signal, subagent_id } = this.#actor;
    if (subagent_id !== undefined || this.#stopsRefused === STOPS_REFUSED) return true;
    const refused = await cast.hooks.onStop(text, signal);
    if (refused === undefined) {
      this.#stopsRefused = 0;
      return true;
    }
    this.#stopsRefused += 1;
    emit({
      type: "message.user",
      message_id: randomId("msg"),
      content: [{ type: "text", text: refused }],
      origin: "system",
    });
    return false;
  }
}

function isOverflow(error: unknown): boolean {
  if (!(error instanceof Fault) || !isObject(error.details)) return false;
  return error.details.cause === "context_overflow";
}
