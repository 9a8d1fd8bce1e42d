import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { EndReason } from "#contract/session-state.ts";
import type { SignalName } from "#contract/signals.ts";
import type { LogIo } from "#log/log-io.ts";
import type { Child, ChildListener, ChildSpec, Spawner, TerminalSize } from "#proc/child.ts";
import { AgentLines } from "./agent-lines.ts";
import { Audience } from "./audience.ts";
import { IdleTimer } from "./deadlines.ts";
import { type EventBody, Journal } from "./journal.ts";
import { RecordKeeper } from "./record-keeper.ts";
import { SeenIds } from "./seen-ids.ts";
import type { Printed } from "./session-logs.ts";
import type { SessionRecord } from "./session-record.ts";
import { describeSession } from "./session-view.ts";
import { isLive } from "./transition.ts";

export interface SessionDeps {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retainBytes: number;
  readonly logIo?: LogIo | undefined;
}

export interface InputRequest {
  readonly bytes: Uint8Array;
  readonly input_id?: string | undefined;
  readonly generation?: number | undefined;
  readonly eof?: boolean | undefined;
}

/** As the child's status; no code when its end was never seen. */
interface Ending {
  readonly exit_code: number | null;
  readonly signal: string | null;
}

/**
 * One process with its logs. The child is started once and never again; exited is final. Every observer sees all
 * output, then the exit, then the end of the output.
 */
export class HostSession {
  readonly #deps: SessionDeps;
  readonly #keeper: RecordKeeper;
  readonly #journal: Journal;
  #child: Child | undefined;
  #closing:
    | {
        readonly reason: EndReason;
        readonly detail: string | undefined;
        readonly done: Promise<void>;
      }
    | undefined;
  readonly #exited = Promise.withResolvers<void>();
  readonly #idle: IdleTimer;
  readonly #lifetime: IdleTimer;
  /** Who watches and who types. */
  readonly audience: Audience;
  readonly #inputIds = new SeenIds(limits.input_ids_remembered);
  readonly #agentLines: AgentLines | undefined;
  /** A tail moved, perhaps by this. */
  readonly tails: Emitter<Printed | undefined>;
  /** The state, the title, the size, the controller or the viewers changed. */
  readonly changes: Emitter<void>;

  constructor(deps: SessionDeps) {
    const { clock, record } = deps;
    this.#deps = deps;
    this.#keeper = new RecordKeeper(deps);
    const onError = (error: unknown) =>
      deps.log.error("a listener failed", { session_id: record.session_id, error });
    this.tails = new Emitter(onError);
    this.#journal = new Journal({
      dir: deps.dir,
      clock,
      keeper: this.#keeper,
      retainBytes: deps.retainBytes,
      io: deps.logIo,
      moved: (printed) => this.tails.emit(printed),
    });
    this.changes = new Emitter(onError);
    const isRunningHere = isLive(record.state);
    const closeFor = (reason: EndReason) => () => void this.close(reason);
    this.#idle = new IdleTimer(
      clock,
      isRunningHere ? record.idle_timeout_ms : 0,
      closeFor("idle_timeout"),
    );
    this.#lifetime = new IdleTimer(
      clock,
      isRunningHere ? record.lifetime_ms : 0,
      closeFor("lifetime_timeout"),
    );
    this.audience = this.#createAudience();
    if (record.kind === "agent") this.#agentLines = this.#createAgentLines();
    if (!isRunningHere) this.#exited.resolve();
  }

  get id(): SessionRecord["session_id"] {
    return this.record.session_id;
  }

  get record(): SessionRecord {
    return this.#keeper.current;
  }

  get dir(): string {
    return this.#deps.dir;
  }

  get isLive(): boolean {
    return isLive(this.record.state);
  }

  get tail(): number {
    return this.#journal.tail;
  }

  get eventsTail(): number {
    return this.#journal.eventsTail;
  }

  get diskBytes(): number {
    return this.#journal.state.disk_bytes;
  }

  get logFault(): { readonly code: string; readonly message: string } | undefined {
    return this.#journal.fault;
  }

  view(): Session {
    return describeSession(this.record, {
      ...this.#journal.state,
      controller: this.audience.controller,
      viewers: this.audience.size,
      last_io_at: this.isLive ? this.#wallTime(this.#idle.touchedAt) : this.record.last_io_at,
      fault: this.#journal.fault,
    });
  }

  /** Starts the child. Whatever fails, nothing is left running; a close that came first wins. */
  async start(spawner: Spawner, spec: ChildSpec): Promise<void> {
    const { record } = this;
    this.#keeper.writeFirst();
    this.#journal.open();
    const size = { cols: record.cols, rows: record.rows };
    this.#journal.note({
      type: "session.opened",
      kind: record.kind,
      argv: record.argv,
      work_dir: record.work_dir,
      title: record.title,
      ...size,
    });
    const child = await spawner.spawn(spec, this.#listen());
    this.#child = child;
    const { pid, start_time, boot_id } = child.identity;
    this.#keeper.happenSoon(
      { kind: "spawned" },
      { process: { pid, start_time, boot_id }, limit_mark: child.limit_mark ?? null },
    );
    if (this.#closing !== undefined) await this.#endTree(child);
  }

  input(request: InputRequest): void {
    const child = this.#liveChild();
    const { input_id } = request;
    if (input_id !== undefined && this.#inputIds.has(input_id)) return;
    this.audience.check(request.generation);
    // The end of a terminal's input is a character that needs room as well: both are taken, or neither.
    if (request.eof === true) checkRoom(child.queuedInputBytes + request.bytes.length + 1);
    child.write(request.bytes);
    if (request.eof === true) child.endInput();
    if (input_id !== undefined) this.#inputIds.add(input_id);
    this.#idle.touch();
  }

  resize(size: TerminalSize, generation: number | undefined): void {
    const child = this.#liveChild();
    if (this.record.mode !== "pty") {
      throw new Fault("invalid_request", "this session has no terminal, so it has no size");
    }
    this.audience.check(generation);
    child.resize(size);
    this.#idle.touch();
    if (size.cols === this.record.cols && size.rows === this.record.rows) return;
    this.#journal.markSize(size.cols, size.rows);
    this.#keeper.update({ cols: size.cols, rows: size.rows });
    this.#journal.note({ type: "session.resized", ...size, offset: this.tail });
    this.changes.emit();
  }

  /** What an ended session has left running is still its tree. */
  signal(signal: SignalName, scope: "foreground" | "tree"): number {
    const left = scope === "tree" && !this.isLive ? (this.#child?.signalTree(signal) ?? 0) : 0;
    if (left > 0) return left;
    const child = this.#liveChild();
    return scope === "tree" ? child.signalTree(signal) : child.signalForeground(signal);
  }

  /** Whether an earlier host started it, so that we hold no child for it. */
  get isRecovered(): boolean {
    return this.#child === undefined && !this.isLive;
  }

  countTree(): number {
    return this.#child?.countTree() ?? 0;
  }

  rename(title: string): void {
    this.#keeper.update({ title });
    this.#journal.open();
    this.#journal.note({ type: "session.title", title });
    if (!this.isLive) this.#closeJournal();
    this.changes.emit();
  }

  /** Ends the session and all that it started. Everybody who asks waits for the same end; the first reason stays. */
  close(reason: EndReason, detail?: string): Promise<void> {
    this.#closing ??= { reason, detail, done: this.#end() };
    return this.#closing.done;
  }

  /** The child could not be started: whoever waits for the end has it. */
  discard(): void {
    this.#exited.resolve();
    this.dispose();
  }

  /** Lets go of descriptors and timers; the process, if any, is not ended by this. */
  dispose(): void {
    this.#idle[Symbol.dispose]();
    this.#lifetime[Symbol.dispose]();
    this.audience.endControl();
    this.#child?.[Symbol.dispose]();
    this.#child = undefined;
    this.#closeJournal();
  }

  #listen(): ChildListener {
    // An agent's exit comes behind its last event, also when that one waits for room on the disk.
    const inOrder = (run: () => void) =>
      this.#agentLines === undefined ? run() : this.#agentLines.whenWritten(run);
    return {
      output: (channel, bytes) => {
        this.#idle.touch();
        if (this.#agentLines !== undefined && channel === "stdout") this.#agentLines.push(bytes);
        else this.#journal.appendOutput(channel, bytes);
      },
      exited: (status) => inOrder(() => this.#onExited(status)),
      final: () => inOrder(() => this.#onFinal()),
    };
  }

  #onExited({ exit_code, signal }: Ending): void {
    this.#idle[Symbol.dispose]();
    this.#lifetime[Symbol.dispose]();
    this.audience.endControl();
    this.#journal.settle();
    const { reason = "exited", detail } = this.#closing ?? {};
    this.#keeper.happen(
      { kind: "exited", exit_code, signal, reason, detail, tail: this.tail },
      { exited_at: this.#now(), last_io_at: this.#wallTime(this.#idle.touchedAt) },
    );
    this.#journal.note({ type: "session.exited", state: this.record.state });
    this.#exited.resolve();
    this.changes.emit();
  }

  /** The child is kept: what it left running can still be counted and ended. */
  #onFinal(): void {
    this.#keeper.happen({ kind: "output_ended" });
    this.#closeJournal();
  }

  async #end(): Promise<void> {
    // A spawn in flight is ended by `start`, which sees that we are closing.
    if (this.#child !== undefined) await this.#endTree(this.#child);
    await this.#exited.promise;
  }

  async #endTree(child: Child): Promise<void> {
    const survivors = await child.endTree({ grace_ms: this.record.grace_ms });
    if (this.isLive) await this.#abandon(child, survivors.length > 0);
    this.#keeper.happen({ kind: "survived", survivors });
  }

  /** The child itself would not end, or its end was not seen yet: hang up on it and say what is known. */
  async #abandon(child: Child, isStuck: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _limit = this.#deps.clock.timer(limits.tree_kill_ms, resolve);
    if (isStuck) child[Symbol.dispose]();
    await Promise.race([this.#exited.promise, promise]);
    // An end that waits for room on the disk has waited long enough.
    this.#agentLines?.giveUpWaiting();
    if (!this.isLive) return;
    this.#onExited({ exit_code: null, signal: null });
    this.#onFinal();
  }

  #liveChild(): Child {
    const { state } = this.record;
    if (this.#child !== undefined && isLive(state) && this.#closing === undefined)
      return this.#child;
    const sentence =
      this.#closing !== undefined && isLive(state)
        ? "this session is closing"
        : "this session has ended";
    throw new Fault("already_exited", sentence, { details: { session_id: this.id, state } });
  }

  #createAudience(): Audience {
    const tell = (event: EventBody) => {
      this.#journal.note(event);
      this.changes.emit();
    };
    return new Audience({
      clock: this.#deps.clock,
      onControl: (change) => tell({ type: "session.control", ...change }),
      onAttached: (viewer, role) => tell({ type: "session.attached", viewer, role }),
      onDetached: (viewer) => tell({ type: "session.detached", viewer }),
    });
  }

  #createAgentLines(): AgentLines {
    const message = "an event line was too long and was dropped";
    return new AgentLines({
      clock: this.#deps.clock,
      append: (lines) => this.#appendLines(lines),
      tooLong: () => this.#journal.note({ type: "warning", code: "payload_too_large", message }),
      held: (isHeld) => {
        if (isHeld) this.#child?.pause();
        else this.#child?.resume();
        this.changes.emit();
      },
    });
  }

  #appendLines(lines: Buffer): number {
    const kept = this.#journal.appendLines(lines);
    // Events are its history and are never evicted, so at their limit the run is over.
    if (kept < lines.length && this.#journal.fault?.code === "limit") {
      void this.close("lifetime_timeout", "its events log has reached its limit");
      return lines.length;
    }
    return kept;
  }

  #closeJournal(): void {
    if (this.#journal.close()) this.changes.emit();
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #wallTime(monotonic: number): string {
    const { clock } = this.#deps;
    return new Date(clock.now() - (clock.monotonic() - monotonic)).toISOString();
  }
}

function checkRoom(bytes: number): void {
  if (bytes <= limits.input_queue_bytes) return;
  throw new Fault("queue_full", "the queue for this program's input is full; try again later", {
    details: { limit_bytes: limits.input_queue_bytes },
  });
}
