import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errno.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { EndReason } from "#contract/session-state.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import type { Child, ChildListener, ChildSpec, Spawner } from "#proc/child.ts";
import { AgentLines } from "./agent-lines.ts";
import { IdleTimer } from "./deadlines.ts";
import type { HandedLife } from "./hand-over.ts";
import type { Journal } from "./journal.ts";
import type { RecordKeeper } from "./record-keeper.ts";

export interface LifeDeps {
  readonly clock: Clock;
  readonly keeper: RecordKeeper;
  readonly journal: Journal;
  /** The child has ended, which is told next. */
  readonly ended: () => void;
  /** The state changed, or whether its events can be kept. */
  readonly changed: () => void;
}

/** As the child's status; no code when its end was never seen. */
interface Ending {
  readonly exit_code: number | null;
  readonly signal: string | null;
}

interface Closing {
  readonly reason: EndReason;
  readonly detail: string | undefined;
  readonly done: Promise<void>;
}

/**
 * One child of a session, with all that begins and ends with it: its timers, what was typed into it, how it is
 * closed. A child is started once and never again; a session that goes on does so in another life, and nothing that
 * belonged to this one reaches that.
 */
export class Life implements Disposable {
  readonly #deps: LifeDeps;
  readonly #exited = Promise.withResolvers<void>();
  readonly #idle: IdleTimer;
  readonly #lifetime: IdleTimer;
  readonly #inputIds = new BoundedMap<string, true>(limits.input_ids_remembered);
  readonly #agentLines: AgentLines | undefined;
  #child: Child | undefined;
  #closing: Closing | undefined;
  #isEnding = false;

  /** Of a session that is about to start, or of one that has ended and has no child here. */
  constructor(deps: LifeDeps) {
    this.#deps = deps;
    const { clock } = deps;
    const { state, idle_timeout_ms, lifetime_ms, kind } = deps.keeper.current;
    const isStarting = isLive({ state });
    const closeFor = (reason: EndReason) => () => void this.close(reason);
    this.#idle = new IdleTimer(clock, isStarting ? idle_timeout_ms : 0, closeFor("idle_timeout"));
    this.#lifetime = new IdleTimer(
      clock,
      isStarting ? lifetime_ms : 0,
      closeFor("lifetime_timeout"),
    );
    if (kind === "agent") this.#agentLines = this.#createAgentLines();
    if (!isStarting) this.#exited.resolve();
  }

  /** By the monotonic clock. */
  get touchedAt(): number {
    return this.#idle.touchedAt;
  }

  /** Also when it has ended: what it left running can still be counted and ended. */
  get child(): Child | undefined {
    return this.#child;
  }

  /** Starts the child. Whatever fails, nothing is left running; a close that came first wins. */
  async start(spawner: Spawner, spec: ChildSpec): Promise<void> {
    const child = await spawner.spawn(spec, this.#listen());
    this.#child = child;
    const { pid, start_time, boot_id } = child.identity;
    this.#deps.keeper.happenSoon(
      { kind: "spawned" },
      { process: { pid, start_time, boot_id }, limit_mark: child.limit_mark ?? null },
    );
    this.#deps.changed();
    if (this.#closing !== undefined) await this.#endTree(child);
  }

  /** Somebody waits for it to end, or for room on the disk: nothing that another program could go on with. */
  get isUnsettled(): boolean {
    return this.#isEnding || this.#agentLines?.isHeld === true;
  }

  handOver(): HandedLife {
    return {
      child: this.#child?.handOver() ?? null,
      idle_ms: this.#idle.age,
      age_ms: this.#lifetime.age,
      input_ids: [...this.#inputIds.keys()],
      line: this.#agentLines?.handOver() ?? null,
    };
  }

  /** Goes on with the child that the program before us had in this life. */
  adopt(spawner: Spawner, handed: HandedLife, passedMs: number): void {
    this.#idle.restore(handed.idle_ms + passedMs);
    this.#lifetime.restore(handed.age_ms + passedMs);
    for (const inputId of handed.input_ids) this.#inputIds.set(inputId, true);
    if (handed.line !== null) this.#agentLines?.adopt(handed.line);
    if (handed.child === null) return;
    const { session_id } = this.#deps.keeper.current;
    this.#child = spawner.adopt(session_id, handed.child, this.#listen());
  }

  /** The child that can be typed into and signalled; throws when it has ended or is closing. */
  liveChild(): Child {
    const { state, session_id } = this.#deps.keeper.current;
    if (this.#child !== undefined && isLive({ state }) && this.#closing === undefined)
      return this.#child;
    const sentence =
      this.#closing !== undefined && isLive({ state })
        ? "this session is closing"
        : "this session has ended";
    throw new Fault("already_exited", sentence, { details: { session_id, state } });
  }

  /** Throws `queue_full`, and then nothing was typed. */
  type(bytes: Uint8Array, { eof }: { readonly eof: boolean }): void {
    const child = this.liveChild();
    // The end of a terminal's input is a character that needs room as well: both are taken, or neither.
    if (eof) checkRoom(child.queuedInputBytes + bytes.length + 1);
    child.write(bytes);
    if (eof) child.endInput();
    this.#idle.touch();
  }

  touch(): void {
    this.#idle.touch();
  }

  hasSeen(inputId: string): boolean {
    return this.#inputIds.has(inputId);
  }

  remember(inputId: string): void {
    this.#inputIds.set(inputId, true);
  }

  /** Ends it and all that it started. Everybody who asks waits for the same end; the first reason stays. */
  close(reason: EndReason, detail?: string): Promise<void> {
    this.#closing ??= { reason, detail, done: this.#end() };
    return this.#closing.done;
  }

  /** The child could not be started, and the session stays: it says why. */
  fail(error: unknown): void {
    this.#onExited(
      { exit_code: null, signal: null },
      { reason: "spawn_failed", detail: messageOf(error).slice(0, limits.detail_chars) },
    );
    this.#onFinal();
  }

  /** The child could not be started, and the session goes: whoever waits for the end has it. */
  discard(): void {
    this.#exited.resolve();
  }

  /** Lets go of descriptors and timers; the process, if any, is not ended by this. Nothing is heard of it any more. */
  [Symbol.dispose](): void {
    this.#idle[Symbol.dispose]();
    this.#lifetime[Symbol.dispose]();
    this.#agentLines?.[Symbol.dispose]();
    this.#child?.[Symbol.dispose]();
    this.#child = undefined;
  }

  #listen(): ChildListener {
    const { journal } = this.#deps;
    // An agent's exit comes behind its last event, also when that one waits for room on the disk.
    const inOrder = (run: () => void) =>
      this.#agentLines === undefined ? run() : this.#agentLines.whenWritten(run);
    return {
      output: (channel, bytes) => {
        this.#idle.touch();
        if (this.#agentLines !== undefined && channel === "stdout") this.#agentLines.push(bytes);
        else journal.appendOutput(channel, bytes);
      },
      exited: (status) => inOrder(() => this.#onExited(status, { reason: "exited" })),
      final: () => inOrder(() => this.#onFinal()),
    };
  }

  /** `why` unless somebody asked for the end. */
  #onExited(
    { exit_code, signal }: Ending,
    why: { readonly reason: EndReason; readonly detail?: string },
  ): void {
    const { keeper, journal, clock } = this.#deps;
    this.#idle[Symbol.dispose]();
    this.#lifetime[Symbol.dispose]();
    this.#deps.ended();
    journal.settle();
    journal.concede();
    const { reason, detail } = this.#closing ?? why;
    const touched = clock.now() - (clock.monotonic() - this.touchedAt);
    keeper.happen(
      { kind: "exited", exit_code, signal, reason, detail, tail: journal.tail },
      {
        exited_at: new Date(clock.now()).toISOString(),
        last_io_at: new Date(touched).toISOString(),
      },
    );
    journal.note({ type: "session.exited", state: keeper.current.state });
    this.#exited.resolve();
    this.#deps.changed();
  }

  /** The child is kept: what it left running can still be counted and ended. */
  #onFinal(): void {
    const { keeper, journal } = this.#deps;
    // With how far the logs go: those of a full disk are closed much later, and a host may die before.
    keeper.happen({ kind: "output_ended" }, journal.state);
    if (journal.close()) this.#deps.changed();
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    try {
      // A spawn in flight is ended by `start`, which sees that we are closing.
      if (this.#child !== undefined) await this.#endTree(this.#child);
      await this.#exited.promise;
    } finally {
      this.#isEnding = false;
    }
  }

  async #endTree(child: Child): Promise<void> {
    const { keeper } = this.#deps;
    const survivors = await child.endTree({ grace_ms: keeper.current.grace_ms });
    if (isLive(keeper.current)) await this.#abandon(child, survivors.length > 0);
    keeper.happen({ kind: "survived", survivors });
  }

  /** The child itself would not end, or its end was not seen yet: hang up on it and say what is known. */
  async #abandon(child: Child, isStuck: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _limit = this.#deps.clock.timer(limits.tree_kill_ms, resolve);
    if (isStuck) child[Symbol.dispose]();
    await Promise.race([this.#exited.promise, promise]);
    // An end that waits for room on the disk has waited long enough.
    this.#agentLines?.giveUpWaiting();
    if (!isLive(this.#deps.keeper.current)) return;
    this.#onExited({ exit_code: null, signal: null }, { reason: "exited" });
    this.#onFinal();
  }

  #createAgentLines(): AgentLines {
    const { clock, journal } = this.#deps;
    const message = "an event line was too long and was dropped";
    return new AgentLines({
      clock,
      append: (lines) => this.#appendLines(lines),
      tooLong: () => journal.note({ type: "warning", code: "payload_too_large", message }),
      held: (isHeld) => {
        if (isHeld) this.#child?.pause();
        else this.#child?.resume();
        this.#deps.changed();
      },
    });
  }

  #appendLines(lines: Buffer): number {
    const { journal } = this.#deps;
    const kept = journal.appendLines(lines);
    // Events are its history and are never evicted, so at their limit the run is over.
    if (kept < lines.length && journal.fault?.code === "limit") {
      void this.close("lifetime_timeout", "its events log has reached its limit");
      return lines.length;
    }
    return kept;
  }
}

function checkRoom(bytes: number): void {
  if (bytes <= limits.input_queue_bytes) return;
  throw new Fault("queue_full", "the queue for this program's input is full; try again later", {
    details: { limit_bytes: limits.input_queue_bytes },
  });
}
