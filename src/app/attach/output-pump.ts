import type { Emitter } from "#base/emitter.ts";
import { hasEnded, isFinal } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle } from "#session/session-host.ts";
import type { OutputFrames } from "./output-frames.ts";

/** Bounds the output that has left and has not been taken. */
export interface OutputOutbox {
  /** More would only wait here. */
  readonly isFull: boolean;
  readonly isOpen: boolean;
  /** There is room again. */
  readonly drained: Emitter<void>;
  send(data: string | Buffer, options?: { readonly binary: boolean }): void;
}

export interface PumpTarget {
  readonly handle: SessionHandle;
  readonly frames: OutputFrames;
  readonly outbox: OutputOutbox;
  readonly since: number;
  /** Absent = `exit`: all that came before it. `final`: also what descendants print after the exit. */
  readonly until?: "exit" | "final" | undefined;
  /** The last change of the size that the viewer knows of; absent = the one at `since`. */
  readonly toldSize?: number | undefined;
}

/** Everything but the bytes, in the order in which it happened. */
interface PumpEvents {
  gap(range: { readonly from: number; readonly to: number }): void;
  resized(size: { readonly cols: number; readonly rows: number }): void;
  /** Everything that was printed has been sent, and the session has ended. */
  ended(session: Session, tail: number): void;
  /** The host has gone; what the files hold has been sent. */
  hostGone(): void;
  failed(error: unknown): void;
}

/**
 * One viewer's cursor. History and live output are the same loop: send what lies between the cursor and the tail, then
 * wait for the tail to move or for room in the outbox.
 */
export class OutputPump implements Disposable {
  readonly #target: PumpTarget;
  readonly #events: PumpEvents;
  readonly #subscriptions = new DisposableStack();
  #cursor: number;
  #size: number;
  /** Of a session that has ended, as far as we have looked. */
  #end = 0;
  #isPumping = false;
  #isOver = false;

  constructor(target: PumpTarget, events: PumpEvents) {
    const { handle, outbox, since } = target;
    this.#target = target;
    this.#events = events;
    this.#cursor = since;
    this.#size = target.toldSize ?? handle.sizes.at(since, handle.eventsTail)?.serial ?? 0;
    this.#subscriptions.use(target.frames.enter());
    this.#subscriptions.use(handle.on(() => this.pump()));
    this.#subscriptions.use(outbox.drained.on(() => this.pump()));
  }

  get cursor(): number {
    return this.#cursor;
  }

  pump(): void {
    if (this.#isPumping || this.#isOver) return;
    this.#isPumping = true;
    try {
      while (!this.#isOver && this.#target.outbox.isOpen && this.#step()) {
        // Until there is nothing to send or no room for it.
      }
    } catch (error) {
      this[Symbol.dispose]();
      this.#events.failed(error);
    } finally {
      this.#isPumping = false;
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#subscriptions.dispose();
  }

  /** False when there is nothing more to do now. */
  #step(): boolean {
    const { handle, frames, outbox } = this.#target;
    if (outbox.isFull) return false;
    // The state before the tail: an exit that we know of has told its tail before.
    const isEnd = handle.state !== "open" || this.#isOverFor(handle.session);
    const tail = isEnd ? this.#findEnd() : handle.tail;
    const resize = handle.sizes.after(this.#size, handle.eventsTail);
    if (resize !== undefined && resize.offset <= this.#cursor) {
      this.#size = resize.serial;
      this.#events.resized({ cols: resize.cols, rows: resize.rows });
      return true;
    }
    if (this.#cursor >= tail) {
      if (isEnd) this.#finish(tail);
      return false;
    }
    const to = Math.min(tail, resize?.offset ?? tail);
    const frame = frames.at(this.#cursor, { to, isEnd: isEnd || to < tail });
    if (frame === undefined) return false;
    this.#cursor = frame.end;
    if (frame.kind === "gap") this.#events.gap({ from: frame.from, to: frame.end });
    else outbox.send(frame.data, frame);
    return true;
  }

  #isOverFor(session: Session): boolean {
    return this.#target.until === "final" ? isFinal(session) : hasEnded(session);
  }

  /** The files are asked when what they said has been sent, not for each frame. */
  #findEnd(): number {
    const { output, tail } = this.#target.handle;
    if (this.#cursor >= this.#end) this.#end = Math.max(tail, output.tail());
    return this.#end;
  }

  #finish(tail: number): void {
    const { session, state } = this.#target.handle;
    this[Symbol.dispose]();
    if (state !== "open" && !this.#isOverFor(session)) this.#events.hostGone();
    else this.#events.ended(session, tail);
  }
}
