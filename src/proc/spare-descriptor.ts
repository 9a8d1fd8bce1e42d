import { closeSync, openSync } from "node:fs";

/**
 * One descriptor that is kept for work which must succeed when none is left: to find and end processes one has to
 * read about them.
 */
export class SpareDescriptor implements Disposable {
  #fd: number | undefined;

  constructor() {
    this.#open();
  }

  /** The work may open one file at a time. It has no turn of the event loop in it, so hardly anybody is faster. */
  lend<T>(work: () => T): T {
    this.#close();
    try {
      return work();
    } finally {
      this.#open();
    }
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #open(): void {
    try {
      this.#fd = openSync("/dev/null", "r");
    } catch {
      // A thread was faster; the next who borrows tries to have one again.
    }
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
