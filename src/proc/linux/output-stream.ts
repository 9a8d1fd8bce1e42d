import { closeSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { ReadStream } from "node:tty";
import { isErrno } from "#base/errno.ts";

export interface OutputDeps {
  /** Owned from here on. */
  readonly fd: number;
  /** Another descriptor of the same file for the event loop, which closes it on its own terms. Owned too. */
  readonly loopFd: number;
  readonly terminal: boolean;
  /** At least as much as the kernel can hold of what was printed before a given moment. */
  readonly kernelBytes: number;
  readonly onBytes: (bytes: Buffer) => void;
  readonly onEnd: () => void;
}

/** Shared by all streams: `onBytes` is done with the bytes when it returns. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * One reader for one descriptor, for the child's whole life. The event loop tells when there is something; the
 * end is never taken from it, because it takes a short read of a terminal for the end of the stream while the
 * kernel still holds bytes: what is left is always read here until the kernel itself says that there is no more.
 */
export class OutputStream implements Disposable {
  readonly #deps: OutputDeps;
  readonly #stream: Socket;
  #state: "open" | "ended" = "open";

  constructor(deps: OutputDeps) {
    this.#deps = deps;
    const onread = { buffer: shared, callback: (count: number) => this.#onRead(count) };
    // Node's types know `onread` only for sockets that connect.
    const options = { fd: deps.loopFd, readable: true, writable: false, onread } as object;
    this.#stream = deps.terminal ? new ReadStream(deps.loopFd, options) : new Socket(options);
    this.#stream.on("error", () => this.#finish());
    this.#stream.on("end", () => this.#finish());
    this.#stream.resume();
  }

  get isEnded(): boolean {
    return this.#state === "ended";
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Reads everything that was printed before this call. */
  drain(): void {
    if (this.#state === "ended") return;
    // A descendant that prints without end must not keep us here for ever.
    let left = this.#deps.kernelBytes;
    try {
      while (left > 0) {
        const count = readSync(this.#deps.fd, shared);
        if (count === 0) return;
        left -= count;
        this.#deps.onBytes(shared.subarray(0, count));
      }
    } catch (error) {
      // EAGAIN: nothing more for now. EIO: nobody has the terminal open any more, and everything was read.
      if (!isErrno(error, "EAGAIN", "EIO")) throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#stream.destroy();
    closeSync(this.#deps.fd);
  }

  #onRead(count: number): boolean {
    if (this.#state === "open" && count > 0) this.#deps.onBytes(shared.subarray(0, count));
    return true;
  }

  #finish(): void {
    if (this.#state === "ended") return;
    this.drain();
    this[Symbol.dispose]();
    this.#deps.onEnd();
  }
}
