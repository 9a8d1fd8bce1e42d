import type { Survivor } from "#contract/session-state.ts";
import type {
  Channel,
  Child,
  ChildListener,
  ExitStatus,
  HandedChild,
  HandedWiring,
  TerminalSize,
} from "./child.ts";
import type { ProcessIdentity } from "./identity.ts";
import type { InputQueue } from "./input-queue.ts";
import type { TreeHandle } from "./tree-handle.ts";

export interface WiringEvents {
  /** The bytes are only valid during the call. */
  readonly onBytes: (channel: Channel, bytes: Buffer) => void;
  /** Nobody holds one of the outputs any more; see `isEnded`. */
  readonly onEnd: () => void;
}

/** Our ends of one child's descriptors. Platforms, and PTY and pipes, differ in nothing else that a child can do. */
export interface Wiring extends Disposable {
  readonly input: InputQueue;
  /** Begins to read. */
  start(events: WiringEvents): void;
  pause(): void;
  resume(): void;
  /** Reads everything that was printed before this call. */
  drain(): void;
  /** Whether nobody holds any of the outputs. */
  isEnded(): boolean;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** The group in the foreground of the terminal; undefined without one. */
  foregroundGroup(): number | undefined;
  /** The child has exited: lets go of what was held only to keep its output whole. */
  exited(): void;
  /** Not there where descriptors cannot be handed over. */
  handOver?(): HandedWiring;
}

interface ProcessChildDeps {
  readonly identity: ProcessIdentity;
  readonly limit_mark: number | undefined;
  readonly listener: ChildListener;
  readonly tree: TreeHandle;
  /** Owned once the child is started. */
  readonly wiring: Wiring;
  readonly onError: (error: unknown) => void;
  /** Where its life stood when it was handed over to us. */
  readonly state?: HandedChild["state"];
}

/**
 *   running ──reaped──> exited ──nobody holds the outputs──> final
 *      └───────────────────┴──────disposed──────> disposed      (still reaped, but nobody is told)
 */
export class ProcessChild implements Child {
  readonly identity: ProcessIdentity;
  readonly limit_mark: number | undefined;
  readonly #deps: ProcessChildDeps;
  #state: "running" | "exited" | "final" | "disposed";

  constructor(deps: ProcessChildDeps) {
    this.identity = deps.identity;
    this.limit_mark = deps.limit_mark;
    this.#deps = deps;
    this.#state = deps.state ?? "running";
  }

  /** Begins to read. */
  start(): void {
    this.#deps.wiring.start({
      onBytes: (channel, bytes) => this.#tell((listener) => listener.output(channel, bytes)),
      onEnd: () => this.#settle(),
    });
  }

  get pid(): number {
    return this.identity.pid;
  }

  get queuedInputBytes(): number {
    return this.#deps.wiring.input.bytes;
  }

  write(bytes: Uint8Array): void {
    this.#deps.wiring.input.push(bytes);
  }

  endInput(): void {
    this.#deps.wiring.endInput();
  }

  resize(size: TerminalSize): void {
    this.#deps.wiring.resize(size);
  }

  pause(): void {
    this.#deps.wiring.pause();
  }

  resume(): void {
    this.#deps.wiring.resume();
  }

  signalForeground(signal: NodeJS.Signals): number {
    // Not reaped yet, so its number is nobody else's.
    if (this.#state !== "running") return 0;
    const foreground = this.#deps.wiring.foregroundGroup() ?? 0;
    try {
      process.kill(foreground > 1 ? -foreground : -this.pid, signal);
      return 1;
    } catch {
      // The group ended while we looked.
      return 0;
    }
  }

  signalTree(signal: NodeJS.Signals): number {
    return this.#deps.tree.signal(signal);
  }

  countTree(): number {
    return this.#deps.tree.count();
  }

  endTree({ grace_ms }: { readonly grace_ms: number }): Promise<readonly Survivor[]> {
    return this.#deps.tree.end(grace_ms);
  }

  handOver(): HandedChild | undefined {
    const { wiring, tree } = this.#deps;
    if (wiring.handOver === undefined) return undefined;
    // Of one that is disposed only its tree is left.
    const state = this.#state === "disposed" ? "final" : this.#state;
    return {
      identity: this.identity,
      limit_mark: this.limit_mark ?? null,
      state,
      has_cgroup: tree.hasGroup,
      wiring: state === "final" ? null : wiring.handOver(),
    };
  }

  /** The word of whoever waited for it. */
  onReaped(status: ExitStatus): void {
    const { wiring, tree } = this.#deps;
    wiring.input[Symbol.dispose]();
    this.#attempt(() => wiring.drain());
    if (this.#state === "running") {
      this.#state = "exited";
      this.#tell((listener) => listener.exited(status));
    }
    wiring.exited();
    tree.release();
    this.#settle();
  }

  [Symbol.dispose](): void {
    this.#state = "disposed";
    this.#deps.wiring[Symbol.dispose]();
    this.#deps.tree.release();
  }

  #settle(): void {
    if (this.#state !== "exited" || !this.#deps.wiring.isEnded()) return;
    this.#state = "final";
    this.#tell((listener) => listener.final());
  }

  #tell(what: (listener: ChildListener) => void): void {
    if (this.#state !== "disposed") this.#attempt(() => what(this.#deps.listener));
  }

  /** One listener's failure must not keep the rest of this child's life, nor the other children, from going on. */
  #attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#deps.onError(error);
    }
  }
}
