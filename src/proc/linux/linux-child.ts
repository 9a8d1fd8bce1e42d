import type { Survivor } from "#contract/session-state.ts";
import type { Channel, Child, ChildListener, ExitStatus, TerminalSize } from "#proc/child.ts";
import type { ProcessIdentity } from "#proc/identity.ts";
import type { InputQueue } from "#proc/input-queue.ts";
import type { OutputStream } from "./output-stream.ts";
import type { TreeHandle } from "./tree-handle.ts";

/** What differs between a PTY and pipes. */
export interface Wiring {
  readonly outputs: readonly OutputStream[];
  readonly input: InputQueue;
  resize(size: TerminalSize): void;
  foregroundGroup(): number;
  /** After the exit: lets go of what was held only to keep the child's output whole. */
  release(): void;
}

export interface LinuxChildDeps {
  readonly identity: ProcessIdentity;
  readonly listener: ChildListener;
  readonly tree: TreeHandle;
  readonly wire: (output: (channel: Channel) => Pick<OutputEvents, "onBytes" | "onEnd">) => Wiring;
}

interface OutputEvents {
  readonly onBytes: (bytes: Buffer) => void;
  readonly onEnd: () => void;
}

export class LinuxChild implements Child {
  readonly identity: ProcessIdentity;
  readonly #listener: ChildListener;
  readonly #tree: TreeHandle;
  readonly #wiring: Wiring;
  #state: "running" | "exited" | "final" = "running";

  constructor(deps: LinuxChildDeps) {
    this.identity = deps.identity;
    this.#listener = deps.listener;
    this.#tree = deps.tree;
    this.#wiring = deps.wire((channel) => ({
      onBytes: (bytes) => this.#listener.output(channel, bytes),
      onEnd: () => this.#settle(),
    }));
  }

  get pid(): number {
    return this.identity.pid;
  }

  get queuedInputBytes(): number {
    return this.#wiring.input.bytes;
  }

  write(bytes: Uint8Array): void {
    this.#wiring.input.push(bytes);
  }

  endInput(): void {
    this.#wiring.input.end();
  }

  resize(size: TerminalSize): void {
    this.#wiring.resize(size);
  }

  pause(): void {
    for (const output of this.#wiring.outputs) output.pause();
  }

  resume(): void {
    for (const output of this.#wiring.outputs) output.resume();
  }

  signalForeground(signal: NodeJS.Signals): number {
    const group = this.#state === "running" ? this.#wiring.foregroundGroup() : 0;
    if (group <= 1) return 0;
    try {
      process.kill(-group, signal);
      return 1;
    } catch {
      // The group ended while we looked.
      return 0;
    }
  }

  signalTree(signal: NodeJS.Signals): number {
    return this.#tree.signal(signal);
  }

  countTree(): number {
    return this.#tree.count();
  }

  endTree({ grace_ms }: { readonly grace_ms: number }): Promise<readonly Survivor[]> {
    return this.#tree.end(grace_ms);
  }

  /** The reaper's word. */
  onReaped(status: ExitStatus): void {
    for (const output of this.#wiring.outputs) output.drain();
    this.#state = "exited";
    this.#wiring.input[Symbol.dispose]();
    this.#listener.exited(status);
    this.#wiring.release();
    this.#settle();
  }

  [Symbol.dispose](): void {
    this.#wiring.input[Symbol.dispose]();
    for (const output of this.#wiring.outputs) output[Symbol.dispose]();
    this.#wiring.release();
    this.#tree.release();
  }

  #settle(): void {
    if (this.#state !== "exited" || this.#wiring.outputs.some((output) => !output.isEnded)) return;
    this.#state = "final";
    this.#tree.release();
    this.#listener.final();
  }
}
