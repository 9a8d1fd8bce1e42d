import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Survivor } from "#contract/session-state.ts";
import type {
  Channel,
  Child,
  ChildListener,
  ChildSpec,
  ExitStatus,
  HandedChild,
  Leftover,
  ReservedMark,
  Spawner,
  TerminalSize,
} from "#proc/child.ts";
import type { ProcessIdentity } from "#proc/identity.ts";

/** Far above any real pid, so that a test that signals one by mistake hits nobody. */
const FIRST_PID = 1_000_000_001;
const FIRST_MARK = 700_000;
const BOOT_ID = "fake";
const END_OF_FILE = Uint8Array.of(4);
const HUNG_UP: ExitStatus = { exit_code: 129, signal: "SIGHUP" };
const KILLED: ExitStatus = { exit_code: 137, signal: "SIGKILL" };

/** Spawns children that do what the test says and nothing else. */
export class FakeSpawner implements Spawner {
  readonly specs: ChildSpec[] = [];
  readonly children: FakeChild[] = [];
  /** All that `endLeftovers` was asked to end. */
  readonly leftovers: Leftover[] = [];
  /** What `endLeftovers` cannot end. */
  survivors: readonly Survivor[] = [];
  #failure: Fault | undefined;
  #marks = 0;
  #gate: Promise<void> | undefined;

  failNext(fault: Fault): void {
    this.#failure = fault;
  }

  reserveMark(): ReservedMark {
    this.#marks += 1;
    return { limit_mark: FIRST_MARK + this.#marks, boot_id: BOOT_ID };
  }

  /** The next spawn stays open until the returned function is called. */
  holdNext(): () => void {
    const gate = Promise.withResolvers<void>();
    this.#gate = gate.promise;
    return gate.resolve;
  }

  spawn(spec: ChildSpec, listener: ChildListener): Promise<FakeChild> | FakeChild {
    this.specs.push(spec);
    const failure = this.#failure;
    const gate = this.#gate;
    this.#failure = undefined;
    this.#gate = undefined;
    const start = () => {
      if (failure !== undefined) throw failure;
      const child = new FakeChild(FIRST_PID + this.children.length, spec, { listener });
      this.children.push(child);
      return child;
    };
    return gate === undefined ? start() : gate.then(start);
  }

  /** Goes on with a fake child of another spawner. */
  adopt(sessionId: string, handed: HandedChild, listener: ChildListener): FakeChild {
    const spec = { session_id: sessionId, argv: [], work_dir: "/", env: {}, stdin: true };
    const child = new FakeChild(handed.identity.pid, spec, { listener, state: handed.state });
    this.children.push(child);
    return child;
  }

  endLeftovers(leftovers: readonly Leftover[]): Promise<readonly Survivor[]> {
    this.leftovers.push(...leftovers);
    return Promise.resolve(this.survivors);
  }

  /** The child that was spawned last. */
  get last(): FakeChild {
    const child = this.children.at(-1);
    if (child === undefined) throw new Error("no child was spawned yet");
    return child;
  }
}

export class FakeChild implements Child {
  readonly identity: ProcessIdentity;
  readonly limit_mark: number;
  readonly sizes: TerminalSize[] = [];
  readonly signals: NodeJS.Signals[] = [];
  readonly treeSignals: NodeJS.Signals[] = [];
  /** The grace of every `endTree`, in order. */
  readonly graces: number[] = [];
  /** What `endTree` cannot end. */
  survivors: readonly Survivor[] = [];
  /** Processes of the tree besides the child itself. */
  leftovers = 0;
  /** Ignores the hang-up: `endTree` ends it with SIGKILL. */
  stubborn = false;
  /** Every write throws `queue_full`. */
  fullQueue = false;
  /** Every resize throws. */
  failResize = false;
  /** Whether the end was asked for; a terminal gets the character for it and goes on taking input. */
  inputEnded = false;
  isPaused = false;
  isDisposed = false;
  readonly #listener: ChildListener;
  readonly #isTerminal: boolean;
  readonly #written: Buffer[] = [];
  #unread: { readonly channel: Channel; readonly bytes: Buffer }[] = [];
  #state: HandedChild["state"];
  #endGate: Promise<void> | undefined;

  constructor(
    pid: number,
    spec: ChildSpec,
    { listener, state = "running" }: { listener: ChildListener; state?: HandedChild["state"] },
  ) {
    this.identity = { pid, start_time: pid, boot_id: BOOT_ID };
    this.limit_mark = spec.limit_mark ?? pid;
    this.#isTerminal = spec.size !== undefined;
    this.#listener = listener;
    this.#state = state;
  }

  get pid(): number {
    return this.identity.pid;
  }

  /** All input so far. */
  get written(): Buffer {
    return Buffer.concat(this.#written);
  }

  /** Whether its exit was seen, also when nobody is told any more. */
  get reaped(): boolean {
    return this.#state !== "running";
  }

  get queuedInputBytes(): number {
    return this.fullQueue ? limits.input_queue_bytes : 0;
  }

  /** What the program prints; kept back while the output is paused. */
  print(content: string | Uint8Array, channel: Channel = "stdout"): void {
    if (this.#state === "final") throw new Error("a child cannot print after its final");
    this.#unread.push({ channel, bytes: Buffer.from(content) });
    if (!this.isPaused) this.#deliver();
  }

  /** The program exits; whatever it printed is delivered first, paused or not. */
  exit(status: ExitStatus = { exit_code: 0, signal: null }): void {
    if (this.#state !== "running") throw new Error("a child cannot exit twice");
    this.#deliver();
    this.#state = "exited";
    if (!this.isDisposed) this.#listener.exited(status);
  }

  /** Nobody holds the output any more. */
  finish(): void {
    if (this.#state !== "exited")
      throw new Error(`final comes once and after the exit, not when ${this.#state}`);
    this.#deliver();
    this.#state = "final";
    if (!this.isDisposed) this.#listener.final();
  }

  /** Every `endTree` from now on stays pending, and the child alive, until the returned function is called. */
  holdEnd(): () => void {
    const gate = Promise.withResolvers<void>();
    this.#endGate = gate.promise;
    return gate.resolve;
  }

  write(bytes: Uint8Array): void {
    if (this.fullQueue)
      throw new Fault("queue_full", "the fake child's queue is full", {
        details: { queued_bytes: limits.input_queue_bytes, limit_bytes: limits.input_queue_bytes },
      });
    const takesInput = this.#isTerminal || !this.inputEnded;
    if (this.#state === "running" && takesInput && !this.isDisposed)
      this.#written.push(Buffer.from(bytes));
  }

  endInput(): void {
    this.inputEnded = true;
    if (this.#isTerminal) this.write(END_OF_FILE);
  }

  resize(size: TerminalSize): void {
    if (this.failResize) throw new Error("the fake child refuses to be resized");
    this.sizes.push(size);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#deliver();
  }

  signalForeground(signal: NodeJS.Signals): number {
    this.signals.push(signal);
    return this.#state === "running" ? 1 : 0;
  }

  signalTree(signal: NodeJS.Signals): number {
    this.treeSignals.push(signal);
    return this.countTree();
  }

  countTree(): number {
    return (this.#state === "running" ? 1 : 0) + this.leftovers;
  }

  async endTree({ grace_ms }: { readonly grace_ms: number }): Promise<readonly Survivor[]> {
    this.graces.push(grace_ms);
    await this.#endGate;
    // After the exit and without leftovers there is nobody to end, so the final stays the test's to give.
    const endsSomebody = this.countTree() > 0;
    this.leftovers = 0;
    if (this.#state === "running") this.exit(this.stubborn ? KILLED : HUNG_UP);
    if (endsSomebody && this.#state === "exited") this.finish();
    return this.survivors;
  }

  handOver(): HandedChild {
    const { identity, limit_mark } = this;
    return { identity, limit_mark, state: this.#state, has_cgroup: false, wiring: null };
  }

  [Symbol.dispose](): void {
    this.isDisposed = true;
    this.#unread = [];
  }

  #deliver(): void {
    const unread = this.#unread;
    this.#unread = [];
    if (this.isDisposed) return;
    for (const { channel, bytes } of unread) this.#listener.output(channel, bytes);
  }
}
