import { Socket } from "node:net";
import { ReadStream } from "node:tty";
import type { Descriptor } from "./descriptor.ts";

interface OutputDeps {
  /** Owned from here on. */
  readonly source: Descriptor;
  /** Another descriptor of the same file for the event loop, which closes it on its own terms. Owned too. */
  readonly loop: Descriptor;
  readonly terminal: boolean;
  /** Bytes that are there now, 0 at the end, or a negative errno. */
  readonly read: (fd: number, into: Uint8Array) => number;
  /** At least as much as the kernel can hold at this moment. */
  readonly kernelBytes: (fd: number) => number;
}

interface OutputEvents {
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
  #stream: Socket | undefined;
  #events: OutputEvents | undefined;
  #state: "open" | "ended" = "open";

  constructor(deps: OutputDeps) {
    this.#deps = deps;
  }

  start(events: OutputEvents): void {
    const { loop, terminal } = this.#deps;
    const { fd } = loop;
    if (fd === undefined) throw new Error("an output cannot be started twice");
    this.#events = events;
    const onread = { buffer: shared, callback: (count: number) => this.#onRead(count) };
    // Node's types know `onread` only for sockets that connect.
    const options = { fd, readable: true, writable: false, onread } as object;
    this.#stream = terminal ? new ReadStream(fd, options) : new Socket(options);
    loop.take();
    this.#stream.on("error", () => this.#finish());
    this.#stream.on("end", () => this.#finish());
    this.#stream.resume();
  }

  /** Undefined once it is closed. */
  get fd(): number | undefined {
    return this.#deps.source.fd;
  }

  get isEnded(): boolean {
    return this.#state === "ended";
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** Reads everything that was printed before this call. */
  drain(): void {
    const { source, read, kernelBytes } = this.#deps;
    // A descendant that prints without end must not keep us here for ever.
    let left = source.fd === undefined ? 0 : kernelBytes(source.fd);
    // Whoever gets the bytes may dispose us meanwhile.
    while (left > 0 && source.fd !== undefined) {
      const count = read(source.fd, shared);
      // Nothing for now (EAGAIN), or nobody has the other end open any more (the end of a pipe, EIO on a terminal).
      if (count <= 0) return;
      left -= count;
      this.#events?.onBytes(shared.subarray(0, count));
    }
  }

  [Symbol.dispose](): void {
    this.#state = "ended";
    this.#stream?.destroy();
    this.#deps.loop[Symbol.dispose]();
    this.#deps.source[Symbol.dispose]();
  }

  #onRead(count: number): boolean {
    if (this.#state !== "open" || count <= 0) return true;
    const filled = this.#deps.terminal ? this.#readOn(count) : count;
    this.#events?.onBytes(shared.subarray(0, filled));
    return true;
  }

  /** A terminal gives 4 KiB at a time; what else is there is taken at once instead of in a turn of the loop each. */
  #readOn(count: number): number {
    const { source, read } = this.#deps;
    let filled = count;
    while (source.fd !== undefined && filled < shared.length) {
      const more = read(source.fd, shared.subarray(filled));
      if (more <= 0) break;
      filled += more;
    }
    return filled;
  }

  #finish(): void {
    if (this.#state === "ended") return;
    try {
      this.drain();
    } finally {
      this[Symbol.dispose]();
      this.#events?.onEnd();
    }
  }
}
