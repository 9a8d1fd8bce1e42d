import type { SocketLike } from "#client/transport.ts";
import { limits } from "#contract/limits.ts";

/** From the start of the handshake to the first message. */
const CONNECT_MS = 10_000;
/** How long a peer has to answer our good-bye. */
const CLOSE_MS = 1000;
const OPEN = 1;
const NORMAL = 1000;
/** What a browser reports when there was no close frame. */
const ABNORMAL = 1006;

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

export interface ConnectionOptions {
  /** False: the message makes no sense, so the connection is cut. */
  readonly onMessage: (message: unknown) => boolean;
  /** After the handshake. */
  readonly onOpen?: () => void;
  /** The question that any live server answers; absent where the protocol has none. */
  readonly ping?: string;
  /** Override for tests. */
  readonly pingMs?: number | undefined;
}

/**
 * One WebSocket from its handshake to its end. A server that says nothing for two pings has gone, although nothing has
 * told so: browsers show neither pings nor dead peers.
 */
export class Connection {
  readonly #socket: SocketLike;
  readonly #options: ConnectionOptions;
  readonly #ended = Promise.withResolvers<Ended>();
  readonly #closed = Promise.withResolvers<void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWatched = false;
  #isHeard = false;
  #isOver = false;
  #isPaused = false;

  constructor(socket: SocketLike, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.#open());
    socket.addEventListener("message", ({ data }) => this.#hear(data));
    socket.addEventListener("close", ({ code, reason }) => {
      this.#closed.resolve();
      this.#end({ code, reason });
    });
    // What follows it is a close, which says more.
    socket.addEventListener("error", () => undefined);
    this.#timer = setTimeout(() => this.drop("the server does not answer"), CONNECT_MS);
  }

  /** Never rejects. */
  get ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  /** Bytes that were sent and have not left. */
  get unsent(): number {
    return this.#socket.bufferedAmount;
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#socket.readyState === OPEN;
  }

  /** The sub-protocol that the server chose; empty without one. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.#socket.send(data);
  }

  /** No more messages until `resume`. False where the socket cannot be paused. */
  pause(): boolean {
    if (this.#socket.pause === undefined) return false;
    this.#isPaused = true;
    this.#socket.pause();
    return true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume?.();
  }

  /** From here on nothing more is heard of it. */
  drop(reason: string): void {
    this.#end({ code: ABNORMAL, reason });
    this.#socket.close(NORMAL);
  }

  /** Closed, or as good as. */
  async close(): Promise<void> {
    this.drop("closed");
    const timer = setTimeout(() => this.#closed.resolve(), CLOSE_MS);
    await this.#closed.promise;
    clearTimeout(timer);
  }

  #open(): void {
    if (this.#isOver) return;
    if (this.#options.ping === undefined) clearTimeout(this.#timer);
    this.#options.onOpen?.();
  }

  #hear(data: unknown): void {
    if (this.#isOver) return;
    const { ping } = this.#options;
    if (!this.#isWatched && ping !== undefined) this.#watch(ping);
    this.#isHeard = true;
    if (!this.#options.onMessage(data)) this.drop("the server sent a message that is not a frame");
  }

  #watch(ping: string): void {
    this.#isWatched = true;
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => {
      if (!this.#isHeard && !this.#isPaused) {
        this.drop("the server has fallen silent");
        return;
      }
      this.#isHeard = false;
      this.send(ping);
    }, this.#options.pingMs ?? limits.ping_ms);
  }

  #end(ended: Ended): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ended.resolve(ended);
  }
}
