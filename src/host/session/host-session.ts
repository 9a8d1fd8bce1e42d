import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import type { Logger } from "#base/logger.ts";
import { DELIBERATE_END_REASONS, isLive, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { EndReason } from "#contract/session-state.ts";
import type { SignalName } from "#contract/signals.ts";
import { defined } from "#contract/values/defined.ts";
import type { InputNumber } from "#host/input-counters.ts";
import { openLogFiles } from "#log/log-files.ts";
import type { LogIo } from "#log/log-io.ts";
import type { ChildSpec, Spawner, TerminalSize } from "#proc/child.ts";
import { AgentProgress, catchUp } from "./agent-progress.ts";
import { Audience } from "./audience.ts";
import type { HandedSession } from "./hand-over.ts";
import { type EventBody, Journal } from "./journal.ts";
import { Life } from "./life.ts";
import { RecordKeeper } from "./record-keeper.ts";
import type { Printed } from "./session-logs.ts";
import type { SessionRecord } from "./session-record.ts";
import { describeSession } from "./session-view.ts";

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
  readonly numbered?: InputNumber | undefined;
  readonly generation?: number | undefined;
  readonly eof?: boolean | undefined;
}

/**
 * One process with its logs. Every observer sees all output, then the exit, then the end of the output. An agent that
 * has ended may go on in another life: another process, the same session, the same logs, the same observers.
 */
export class HostSession {
  readonly #deps: SessionDeps;
  readonly #keeper: RecordKeeper;
  readonly #journal: Journal;
  readonly #progress: AgentProgress;
  #life: Life;
  #isReviving = false;
  /** Who watches and who types. */
  readonly audience: Audience;
  /** A tail moved, perhaps by this. */
  readonly tails: Emitter<Printed | undefined>;
  /** The state, the title, the size, the controller or the viewers changed; or it was removed. */
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
      noted: (bytes) => this.#progress.push(bytes, this.eventsTail),
    });
    this.changes = new Emitter(onError);
    this.#progress = new AgentProgress({
      clock,
      keeper: this.#keeper,
      changed: () => this.changes.emit(),
    });
    this.audience = this.#createAudience();
    this.#life = this.#createLife();
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
    return isLive(this.record);
  }

  /** Another life is being prepared, so its end is not the last word. */
  get isReviving(): boolean {
    return this.#isReviving;
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
      last_io_at: this.isLive ? this.#wallTime(this.#life.touchedAt) : this.record.last_io_at,
      fault: this.#journal.fault,
    });
  }

  /** Starts the child. Whatever fails, nothing is left running; a close that came first wins. */
  async start(spawner: Spawner, spec: ChildSpec): Promise<void> {
    const { record } = this;
    const mark = spawner.reserveMark?.();
    this.#keeper.writeFirst(mark);
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
    await this.#life.start(spawner, { ...spec, limit_mark: mark?.limit_mark });
  }

  /** It starts or ends at this moment, which another program could not go on with. */
  get isMoving(): boolean {
    return this.record.state.kind === "starting" || this.#isReviving || this.#life.isUnsettled;
  }

  /** Tries to write what its logs and its record are owed; true when nothing is. */
  settleLogs(): boolean {
    this.#keeper.flush();
    return this.#journal.settle() && this.#keeper.isWritten;
  }

  /** Undefined when the record on the disk says it all. */
  handOver(): HandedSession | undefined {
    this.#keeper.flush();
    const has_open_logs = this.#journal.isOpen;
    if (this.#life.child === undefined && !has_open_logs && this.audience.size === 0)
      return undefined;
    return {
      record: { ...this.record, ...this.#journal.state },
      has_open_logs,
      tail: this.tail,
      events_tail: this.eventsTail,
      life: this.#life.handOver(),
      audience: this.audience.handOver(),
    };
  }

  /** Goes on where the program before us was. */
  adopt(spawner: Spawner, handed: HandedSession, passedMs: number): void {
    if (handed.has_open_logs) this.#journal.open();
    if (this.tail !== handed.tail || this.eventsTail !== handed.events_tail)
      this.#deps.log.error("a log does not end where it was handed over", {
        session_id: this.id,
        tail: [handed.tail, this.tail],
        events_tail: [handed.events_tail, this.eventsTail],
      });
    this.#catchUp();
    this.audience.adopt(handed.audience, passedMs);
    this.#life.adopt(spawner, handed.life, passedMs);
  }

  /** Throws unless another life may begin now. */
  checkRevival(): void {
    const details = { session_id: this.id, state: this.record.state };
    if (this.record.kind !== "agent")
      throw new Fault(
        "unsupported",
        `only an agent goes on after its end, and this is a ${this.record.kind}; make another session`,
        { details },
      );
    if (this.isLive) throw new Fault("busy", "this agent is running already", { details });
    if (!isResumable(this.record))
      throw new Fault("already_exited", "this agent was closed for good; make another session", {
        details,
      });
  }

  /** From here until it is disposed nobody else revives the session; throws `busy` while somebody does. */
  holdForRevival(): Disposable {
    this.checkRevival();
    if (this.#isReviving) throw new Fault("busy", "this agent is being started already");
    this.#isReviving = true;
    return {
      [Symbol.dispose]: () => {
        this.#isReviving = false;
      },
    };
  }

  /** Resolves when nothing of the life that has ended runs any more, as far as that can be had. */
  async endLastLife(): Promise<void> {
    await this.#life.close("exited");
  }

  /** Another child in the same session. When it cannot be started the session has ended again, and says so. */
  async revive(spawner: Spawner, spec: ChildSpec): Promise<void> {
    this.#life[Symbol.dispose]();
    this.#closeJournal();
    const life = (this.record.life ?? 1) + 1;
    const mark = spawner.reserveMark?.();
    this.#keeper.writeRevival({
      life,
      argv: [...spec.argv],
      work_dir: spec.work_dir,
      exited_at: null,
      process: null,
      limit_mark: null,
      ...mark,
    });
    this.#life = this.#createLife();
    try {
      this.#journal.open();
      this.#journal.note({ type: "session.resumed", life, from: this.#journal.nextEvent });
      this.changes.emit();
      await this.#life.start(spawner, { ...spec, limit_mark: mark?.limit_mark });
    } catch (error) {
      this.#life.fail(error);
      throw error;
    }
    this.changes.emit();
  }

  input({ bytes, input_id, numbered, generation, eof = false }: InputRequest): void {
    const { inputs } = this.audience;
    this.#life.liveChild();
    if (numbered !== undefined && inputs.isApplied(numbered)) return;
    const isSeen = input_id !== undefined && this.#life.hasSeen(input_id);
    if (!isSeen) this.audience.check(generation);
    if (numbered !== undefined) inputs.check(numbered);
    if (!isSeen) this.#life.type(bytes, { eof });
    if (input_id !== undefined) this.#life.remember(input_id);
    if (numbered !== undefined) inputs.applied(numbered);
  }

  resize(size: TerminalSize, generation: number | undefined): void {
    const child = this.#life.liveChild();
    if (this.record.mode !== "pty") {
      throw new Fault("invalid_request", "this session has no terminal, so it has no size");
    }
    this.audience.check(generation);
    child.resize(size);
    this.#life.touch();
    if (size.cols === this.record.cols && size.rows === this.record.rows) return;
    this.#journal.markSize(size.cols, size.rows);
    this.#keeper.update({ cols: size.cols, rows: size.rows });
    this.#journal.note({ type: "session.resized", ...size, offset: this.tail });
    this.changes.emit();
  }

  /** What an ended session has left running is still its tree. */
  signal(signal: SignalName, scope: "foreground" | "tree"): number {
    const ended = this.isLive ? undefined : this.#life.child;
    const left = scope === "tree" ? (ended?.signalTree(signal) ?? 0) : 0;
    if (left > 0) return left;
    const child = this.#life.liveChild();
    return scope === "tree" ? child.signalTree(signal) : child.signalForeground(signal);
  }

  /** Whether an earlier host started it, so that we hold no child for it. */
  get isRecovered(): boolean {
    return this.#life.child === undefined && !this.isLive;
  }

  countTree(): number {
    return this.#life.child?.countTree() ?? 0;
  }

  rename({
    title,
    name,
  }: {
    readonly title?: string | undefined;
    readonly name?: string | null | undefined;
  }): void {
    this.#keeper.update(defined({ title, name }));
    if (title !== undefined) this.#noteAnyTime({ type: "session.title", title });
    this.changes.emit();
  }

  /**
   * Ends the session and all that it started. Everybody who asks waits for the same end; the first reason stays, but
   * for an agent that would go on: closed on purpose it does not.
   */
  async close(reason: EndReason, detail?: string): Promise<void> {
    this.#closeForGood(reason, detail);
    await this.#life.close(reason, detail);
    // It may have been ending for another reason.
    this.#closeForGood(reason, detail);
  }

  /** The child could not be started: whoever waits for the end has it. */
  discard(): void {
    this.#life.discard();
    this.dispose();
  }

  /** Lets go of descriptors and timers; the process, if any, is not ended by this. */
  dispose(): void {
    this.#life[Symbol.dispose]();
    this.#progress[Symbol.dispose]();
    this.audience.endControl();
    this.#journal.settle();
    if (this.#journal.abandon()) this.changes.emit();
    this.#keeper.flush();
  }

  /** A program that knew no status has handed it over: its log is read once. */
  #catchUp(): void {
    const { kind, agent_status } = this.record;
    if (kind !== "agent" || agent_status?.read === this.eventsTail) return;
    using events = openLogFiles(join(this.dir, "events"));
    this.#keeper.update({ agent_status: catchUp(agent_status, events) });
  }

  #closeForGood(reason: EndReason, detail: string | undefined): void {
    if (!DELIBERATE_END_REASONS.includes(reason) || !isResumable(this.record)) return;
    this.#keeper.happen({ kind: "closed", reason, detail });
    this.#noteAnyTime({ type: "session.exited", state: this.record.state });
    this.changes.emit();
  }

  #createLife(): Life {
    return new Life({
      clock: this.#deps.clock,
      keeper: this.#keeper,
      journal: this.#journal,
      ended: () => this.audience.endControl(),
      changed: () => this.changes.emit(),
    });
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

  /** Also when the logs are closed, and without closing those that somebody still writes to. */
  #noteAnyTime(event: EventBody): void {
    const { isOpen } = this.#journal;
    this.#journal.open();
    this.#journal.note(event);
    if (!isOpen) this.#closeJournal();
  }

  #closeJournal(): void {
    if (this.#journal.close()) this.changes.emit();
  }

  #wallTime(monotonic: number): string {
    const { clock } = this.#deps;
    return new Date(clock.now() - (clock.monotonic() - monotonic)).toISOString();
  }
}
