import { closeSync } from "node:fs";

/** A descriptor that is closed once, and whose number nobody uses afterwards: it may be somebody else's by then. */
export class Descriptor implements Disposable {
  #fd: number | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined once it is closed. */
  get fd(): number | undefined {
    return this.#fd;
  }

  /** Hands it over to an owner that closes it itself. */
  take(): number {
    if (this.#fd === undefined) throw new Error("the descriptor is closed");
    const fd = this.#fd;
    this.#fd = undefined;
    return fd;
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.take());
  }
}
