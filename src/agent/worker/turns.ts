import { expandCommand } from "#agent/team/commands.ts";
import { modelOf } from "#agent/team/describe-team.ts";
import { refuseCalls } from "#agent/turn/calls.ts";
import type { MessageQueue } from "#agent/turn/message-queue.ts";
import type { Actor, Cast, Stage, TurnEnd } from "#agent/turn/stage.ts";
import { type Inbox, runTurn } from "#agent/turn/turn.ts";
import { randomId } from "#base/random-id.ts";
import { hasWork } from "#contract/agent/agent-status.ts";
import type { AgentEventOf, QueuedMessage } from "#contract/agent/events.ts";
import type { AgentSpec, ModelOverrides } from "#contract/agent/spec.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import type { Casting } from "./casting.ts";
import type { FreshMessage } from "./sent-messages.ts";

interface TurnsDeps {
  readonly stage: Stage;
  readonly casting: Casting;
  readonly queue: MessageQueue;
  readonly spec: AgentSpec;
}

type Origin = Pick<
  AgentEventOf<"message.user">,
  "origin" | "framing" | "idempotency_key" | "queue_id"
>;

interface Running {
  readonly turn_id: string;
  readonly abort: AbortController;
  done: Promise<void>;
}

const NOT_RUN = "This call was not made: the turn had ended.";
/** How long the hooks at the end of a session may take. */
const END_MS = 3000;
const TITLE_CHARS = 80;

/** The turns of a session's own conversation: one at a time, and each ends exactly once, however it ends. */
export class Turns {
  readonly #deps: TurnsDeps;
  #running: Running | undefined;
  /** Something that must not meet a turn. */
  #taken: Pick<Running, "abort" | "done"> | undefined;
  #asking = 0;
  #begun: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  readonly #context: string[] = [];
  readonly actor: Actor;

  constructor(deps: TurnsDeps) {
    this.#deps = deps;
    const { stage, casting, spec } = deps;
    const { fold } = stage;
    const cast = casting.find(fold.agent === "" ? spec.agent : fold.agent);
    const running = () => (this.#running ?? this.#taken)?.abort.signal ?? NEVER;
    this.actor = {
      conversation: fold.conversation,
      subagent_id: undefined,
      depth: 0,
      // Each turn has its own.
      get signal() {
        return running();
      },
      emit: (body) => stage.emit({ ...body, agent: this.actor.cast.definition.name }),
      cast,
      contextTokens: fold.talk.context_tokens,
      stopped: undefined,
    };
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Idle, or waiting for people and for nothing else. What a question was asked for is asked again in the next life, so
   * it must be something that can be asked again.
   */
  get canPark(): boolean {
    const { background, fold, questions } = this.#deps.stage;
    if (this.#asking > 0 || this.#taken !== undefined || background.running > 0) return false;
    if (this.#running === undefined) return true;
    const asked = fold.talk.approvals;
    const isAgain =
      asked.every(({ kind, subagent_id }) => kind === "tool" && subagent_id === undefined) &&
      fold.talk.elicitations.every(({ call_id, subagent_id }) =>
        subagent_id === undefined ? this.#isPrompt(call_id) : false,
      );
    const waits = fold.talk.approvals.length + fold.talk.elicitations.length;
    return questions.isWaiting && isAgain && waits === this.#deps.stage.inFlight.size;
  }

  /** A request is being answered. */
  asking(): Disposable {
    this.#asking += 1;
    return {
      [Symbol.dispose]: () => {
        this.#asking -= 1;
      },
    };
  }

  checkIdle(): void {
    if (this.#running === undefined && this.#taken === undefined) return;
    throw new Fault(
      "busy",
      "a turn is running; steer it, send a follow-up, or interrupt it first",
      {
        details: { turn_id: this.#running?.turn_id ?? null },
      },
    );
  }

  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { queue, casting } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#taken = { abort: new AbortController(), done: promise };
    const waiting = queue.count("followup");
    try {
      await casting.start(this.actor.cast.definition.name);
      return await work();
    } finally {
      this.#taken = undefined;
      resolve();
      // Who came meanwhile was told to wait.
      if (queue.count("followup") > waiting) await this.startQueued();
    }
  }

  /** Says who acts and with which model. */
  introduce(overrides?: ModelOverrides): void {
    const { stage, spec } = this.#deps;
    const { fold } = stage;
    const { definition } = this.actor.cast;
    const model_overrides =
      overrides ?? (fold.talk.model === "" ? (spec.model_overrides ?? {}) : fold.model_overrides);
    const { id, context_limit } = this.#describeModel(model_overrides);
    const { name, description, welcome_message } = definition;
    stage.emit({
      type: "agent.info",
      agent: name,
      name,
      model: id,
      description,
      ...defined({ welcome_message }),
      context_limit,
      model_overrides,
    });
  }

  /** From now on another agent goes on. */
  switchAgent(to: Cast, by: "user" | "handoff"): void {
    const from = this.actor.cast.definition.name;
    const { name } = to.definition;
    this.actor.cast = to;
    if (from !== name)
      this.#deps.stage.emit({ type: "agent.switched", agent: name, from, to: name, by });
    this.introduce();
  }

  /**
   * Runs the hooks of the start, then continues what an earlier life has left: the turn that it was parked in, or the
   * messages that were accepted before it crashed. Both are under way when this returns, so nothing newer comes first.
   */
  begin(source: "new" | "resume"): void {
    const { turn_id, status } = this.#deps.stage.fold;
    this.#begun = this.#runStartHooks(source);
    if (turn_id !== undefined) this.#run(turn_id);
    else if (hasWork(status))
      this.startQueued().catch((error: unknown) =>
        this.#deps.stage.ports.log.error("the queued messages could not be taken up", { error }),
      );
  }

  /** Answers when the messages are written down; the turn goes on by itself. */
  async start(messages: readonly FreshMessage[], how: Origin): Promise<string> {
    const turn_id = randomId("trn");
    const running = this.#open(turn_id);
    this.#deps.stage.emit({ type: "turn.started", turn_id });
    // What the hooks of the start have to say comes with the first message.
    const written = unlessAborted(this.#begun, running.abort.signal)
      .then(() => this.#sayAll(messages, how))
      .catch((error: unknown) => asFault(error).message);
    running.done = written.then((blocked) => this.#finish(running, blocked));
    await written;
    return turn_id;
  }

  /** The next queued message, if any. A steer that its own turn has not taken comes before the follow-ups. */
  async startQueued(): Promise<string | undefined> {
    const { queue } = this.#deps;
    const [next] = [...queue.next("steer", 1), ...queue.next("followup", 1)];
    const isFree = this.#running === undefined && this.#taken === undefined;
    // What waits at the end is for the next life.
    if (next === undefined || !isFree || this.#ending.signal.aborted) return undefined;
    const { content } = next;
    const turn_id = await this.start([{ message_id: undefined, content }], originOf(next));
    this.#deps.queue.tell([next]);
    return turn_id;
  }

  async interrupt(): Promise<boolean> {
    const running = this.#running ?? this.#taken;
    if (running === undefined) return false;
    running.abort.abort(INTERRUPT);
    await running.done;
    return true;
  }

  async end(): Promise<void> {
    const { stage, casting } = this.#deps;
    this.#ending.abort();
    await this.interrupt();
    await stage.background.stopAll();
    await this.#begun;
    const { hooks } = casting.find(this.actor.cast.definition.name);
    try {
      await hooks.onSessionEnd("closed", AbortSignal.timeout(END_MS));
    } catch (error) {
      // It had its time, and what is open must still be closed.
      stage.ports.log.warn("a hook at the end was cut off", { error });
    }
  }

  #open(turn_id: string): Running {
    this.actor.stopped = undefined;
    const running = { turn_id, abort: new AbortController(), done: Promise.resolve() };
    this.#running = running;
    return running;
  }

  #run(turn_id: string): void {
    const running = this.#open(turn_id);
    running.done = this.#finish(running, undefined);
  }

  /** Whatever happens in here, the turn has ended once when it is over. */
  async #finish(running: Running, blocked: string | undefined): Promise<void> {
    const { turn_id } = running;
    const { stage } = this.#deps;
    let end = await this.#perform(running, blocked);
    // What came between its last look and now belongs to this turn; from here to the end nothing can come between.
    while (end.reason === "done" && this.#deps.queue.count("steer") > 0)
      end = await this.#perform(running, undefined);
    refuseCalls(this.actor, NOT_RUN);
    this.#running = undefined;
    const message = defined({ message: end.message });
    stage.emit({ type: "turn.ended", turn_id, reason: end.reason, ...message });
    if (end.reason === "done") await this.startQueued();
  }

  async #perform({ abort }: Running, blocked: string | undefined): Promise<TurnEnd> {
    const { stage, casting } = this.#deps;
    if (blocked !== undefined && !abort.signal.aborted)
      return { reason: "error", message: blocked };
    try {
      // An interrupt does not wait for tools that take long to start.
      const ready = this.#begun.then(() => casting.start(this.actor.cast.definition.name));
      await unlessAborted(ready, abort.signal);
      return await runTurn(this.actor, stage, this.#inbox());
    } catch (error) {
      if (abort.signal.aborted) return { reason: "interrupted" };
      const fault = asFault(error);
      if (fault.code === "internal") stage.ports.log.error("a turn failed", { error });
      this.actor.emit({ type: "error", code: fault.code, message: fault.message });
      return { reason: "error", message: fault.message };
    }
  }

  #inbox(): Inbox {
    const { queue } = this.#deps;
    return {
      drain: async () => {
        const waiting = queue.next("steer", limits.steer_queue);
        let heard = 0;
        for (const message of waiting)
          if ((await this.#saySteer(message)) === undefined) heard += 1;
        queue.tell(waiting);
        return heard;
      },
    };
  }

  /** Why not, if a hook blocked it. */
  async #saySteer(message: QueuedMessage): Promise<string | undefined> {
    const { content } = message;
    return await this.#sayAll([{ message_id: undefined, content }], originOf(message));
  }

  /** Writes messages down, after the hooks have seen them; why not, if one of them was blocked. */
  async #sayAll(messages: readonly FreshMessage[], how: Origin): Promise<string | undefined> {
    for (const [at, message] of messages.entries()) {
      // The key stands for all of them, and counts when the last one is written.
      const { idempotency_key, ...rest } = how;
      const isLast = at === messages.length - 1;
      const withKey = isLast && idempotency_key !== undefined ? how : rest;
      const blocked = await this.#say(message, withKey);
      if (blocked !== undefined) return blocked;
    }
    return undefined;
  }

  async #say({ message_id, content }: FreshMessage, how: Origin): Promise<string | undefined> {
    const { stage } = this.#deps;
    const { hooks, definition } = this.actor.cast;
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const hooked = await hooks.onUserInput(text, this.actor.signal);
    if (hooked.blocked !== undefined) return `a hook blocked the message: ${hooked.blocked}`;
    const said = hooked.text ?? expandCommand(definition.commands, text);
    const others = content.filter((part) => part.type !== "text");
    const added = [...this.#context.splice(0), ...hooked.context];
    const isFirst = stage.fold.conversation.items.every(({ kind }) => kind !== "user");
    stage.emit({
      type: "message.user",
      message_id: message_id ?? randomId("msg"),
      content: [
        ...(said === undefined ? content : [{ type: "text" as const, text: said }, ...others]),
        ...added.map((note) => ({ type: "text" as const, text: note })),
      ],
      ...how,
    });
    if (isFirst) this.#giveTitle(text);
    return undefined;
  }

  /** The first line of what was asked says best what a session is about, at once and at no cost. */
  #giveTitle(text: string): void {
    const { stage, spec } = this.#deps;
    if (spec.titled === true) return;
    const [line = ""] = text.trim().split("\n");
    if (line === "") return;
    const title = line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1)}…`;
    stage.ports
      .rename(title)
      .catch((error: unknown) => stage.ports.log.warn("the title was not taken", { error }));
  }

  async #runStartHooks(source: "new" | "resume"): Promise<void> {
    const { hooks } = this.actor.cast;
    const { signal } = this.#ending;
    try {
      this.#context.push(...(await hooks.onSessionStart(source, signal)));
    } catch (error) {
      // Nobody is left to read what they had to say.
      if (!signal.aborted) throw error;
    }
  }

  #describeModel(overrides: ModelOverrides): { id: string; context_limit: number | null } {
    const { definition } = this.actor.cast;
    try {
      return this.#deps.casting.modelFor(definition, overrides);
    } catch (error) {
      // Its key may be missing in this life; a turn will say so.
      this.#deps.stage.ports.log.warn("a model cannot be used", { error });
      return { id: modelOf(definition, overrides), context_limit: null };
    }
  }

  #isPrompt(callId: string | undefined): boolean {
    const { openCalls } = this.#deps.stage.fold.conversation;
    return openCalls.some(({ call_id, tool }) => call_id === callId && tool === "user_prompt");
  }
}

function originOf({ kind, queue_id, framing, idempotency_key }: QueuedMessage): Origin {
  return {
    origin: kind,
    queue_id,
    ...defined({ framing, idempotency_key }),
  };
}

/** The work itself goes on, and nobody waits for it any more. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const NEVER = new AbortController().signal;
const INTERRUPT = new Fault("nothing_running", "the turn was interrupted");
