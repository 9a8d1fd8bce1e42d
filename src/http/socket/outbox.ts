import type { WebSocket } from "ws";
import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import { limits } from "#contract/limits.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import type { RequestCounts } from "#http/metrics.ts";

export interface OutboxDeps {
  readonly clock: Clock;
  readonly counts: RequestCounts;
  readonly onError: (error: unknown) => void;
  /** Overrides for tests. */
  readonly slowMs?: number;
  readonly pingMs?: number;
  readonly deadPeerMs?: number;
}

/**
 * What leaves on one socket. Holds at most a fixed number of bytes that the peer has not taken; a peer that takes
 * nothing for a while is told so and cut, alone, and may come back for the rest. One that says nothing is dead.
 */
export class Outbox implements Disposable {
  /** There is room again. */
  readonly drained: Emitter<void>;
  readonly #socket: WebSocket;
  readonly #deps: OutboxDeps;
  #unsent = 0;
  #lastTaken: number;
  #lastSign: number;
  #slow: Disposable | undefined;
  #next: Disposable | undefined;
  #isClosing = false;
  #isDisposed = false;

  constructor(socket: WebSocket, deps: OutboxDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.drained = new Emitter(deps.onError);
    this.#lastSign = deps.clock.monotonic();
    this.#lastTaken = this.#lastSign;
    deps.counts.sockets += 1;
    socket.on("pong", () => this.sign());
    socket.on("close", () => this[Symbol.dispose]());
    this.#ping();
  }

  /** More would only wait here. What must be said is taken all the same. */
  get isFull(): boolean {
    return this.#unsent >= limits.viewer_unsent_bytes;
  }

  /** More than output alone can leave unsent: the peer asks on and does not listen to the answers. */
  get isOverfull(): boolean {
    return this.#unsent >= 2 * limits.viewer_unsent_bytes;
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.readyState === this.#socket.OPEN;
  }

  /** Text as it is, or bytes of a frame that several sockets share. */
  send(data: string | Buffer, { binary }: { readonly binary: boolean } = { binary: false }): void {
    if (!this.isOpen) return;
    const size = data.length;
    if (this.#unsent === 0) this.#lastTaken = this.#deps.clock.monotonic();
    this.#unsent += size;
    this.#deps.counts.sentBytes += size;
    this.#watchSlow();
    this.#socket.send(data, { binary, compress: false }, () => this.#sent(size));
  }

  sendJson(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  /** The peer is alive. */
  sign(): void {
    this.#lastSign = this.#deps.clock.monotonic();
  }

  /** What is unsent still goes; a peer that does not take it is dropped after a while. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(code, reason.slice(0, REASON_CHARS));
    const wait = this.#deps.deadPeerMs ?? limits.dead_peer_ms;
    this.#next?.[Symbol.dispose]();
    this.#next = this.#deps.clock.timer(wait, () => this.#socket.terminate());
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#isClosing = true;
    this.#deps.counts.sockets -= 1;
    this.#slow?.[Symbol.dispose]();
    this.#next?.[Symbol.dispose]();
  }

  #sent(size: number): void {
    const wasFull = this.isFull;
    this.#unsent -= size;
    this.#lastTaken = this.#deps.clock.monotonic();
    if (wasFull && !this.isFull && this.isOpen) this.drained.emit();
  }

  /** One timer that looks again as long as something is unsent, rather than one a frame. */
  #watchSlow(): void {
    const { clock, counts, slowMs = limits.slow_viewer_ms } = this.#deps;
    if (this.#slow !== undefined || !this.isFull) return;
    const waited = clock.monotonic() - this.#lastTaken;
    this.#slow = clock.timer(Math.max(1, slowMs - waited), () => {
      this.#slow = undefined;
      if (!this.isFull || this.#isClosing) return;
      if (clock.monotonic() - this.#lastTaken < slowMs) {
        this.#watchSlow();
        return;
      }
      counts.slowViewers += 1;
      this.close(closeCodes.too_slow, "too slow; come back with the offset that you have");
    });
  }

  #ping(): void {
    const { clock, pingMs = limits.ping_ms, deadPeerMs = limits.dead_peer_ms } = this.#deps;
    this.#next = clock.timer(pingMs, () => {
      if (clock.monotonic() - this.#lastSign >= deadPeerMs) {
        this.#socket.terminate();
        return;
      }
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
      this.#ping();
    });
  }
}

const REASON_CHARS = 100;
