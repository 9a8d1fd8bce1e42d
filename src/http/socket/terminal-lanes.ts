import type { OutputOutbox } from "#app/attach/output-pump.ts";
import { Emitter } from "#base/emitter.ts";

/** One terminal's way into the outbox that it shares with others. */
export interface Lane extends Disposable {
  readonly outbox: OutputOutbox;
}

/**
 * Shares one outbox between terminals. While there is room each sends as it likes. Once it was full, those who wait get
 * the room that comes back one frame each, in turn: one that floods takes no more than its share of what the peer takes.
 */
export class Lanes implements Disposable {
  readonly #outbox: OutputOutbox;
  readonly #onError: (error: unknown) => void;
  /** The next in turn first. */
  readonly #lanes = new Set<SharedOutbox>();
  readonly #drained: Disposable;

  constructor(outbox: OutputOutbox, onError: (error: unknown) => void) {
    this.#outbox = outbox;
    this.#onError = onError;
    this.#drained = outbox.drained.on(() => this.#serve());
  }

  open(): Lane {
    const outbox = new SharedOutbox(this.#outbox, this.#onError);
    this.#lanes.add(outbox);
    return { outbox, [Symbol.dispose]: () => void this.#lanes.delete(outbox) };
  }

  [Symbol.dispose](): void {
    this.#drained[Symbol.dispose]();
  }

  /** Until the outbox is full again, or everybody in a row had nothing to send. */
  #serve(): void {
    for (let idle = 0; !this.#outbox.isFull && idle < this.#lanes.size; ) {
      const [lane] = this.#lanes;
      if (lane === undefined) return;
      this.#lanes.delete(lane);
      this.#lanes.add(lane);
      idle = lane.takeTurn() ? 0 : idle + 1;
    }
  }
}

/** The outbox as one of those who share it sees it. */
class SharedOutbox implements OutputOutbox {
  readonly drained: Emitter<void>;
  readonly #outbox: OutputOutbox;
  /** How many frames may still go; one in a turn. */
  #left = Number.POSITIVE_INFINITY;

  constructor(outbox: OutputOutbox, onError: (error: unknown) => void) {
    this.#outbox = outbox;
    this.drained = new Emitter(onError);
  }

  get isFull(): boolean {
    return this.#left <= 0 || this.#outbox.isFull;
  }

  get isOpen(): boolean {
    return this.#outbox.isOpen;
  }

  send(...frame: Parameters<OutputOutbox["send"]>): void {
    this.#left -= 1;
    this.#outbox.send(...frame);
  }

  /** Whether there was a frame to send. */
  takeTurn(): boolean {
    this.#left = 1;
    this.drained.emit();
    const hasSent = this.#left <= 0;
    this.#left = Number.POSITIVE_INFINITY;
    return hasSent;
  }
}
