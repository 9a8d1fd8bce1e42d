import { Fault } from "#contract/fault.ts";
import type { ClientFrame } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import { handled } from "./endings.ts";

/** Fewer than the ids that a session remembers: whatever is sent again is still known there. */
export const PENDING_FRAMES = 256;
export const PENDING_BYTES = limits.input_queue_bytes;
/**
 * Sent and not acknowledged. What is typed is far below it; what is pasted goes piece by piece, and however short a
 * connection lives, it does not spend all of its life on saying the same again.
 */
const WINDOW_BYTES = 64 * 1024;
const WINDOW_FRAMES = 32;

/** A client's frame before it is encoded. */
export type Request = { readonly id: string } & (
  | Exclude<ClientFrame, { readonly type: "ping" | "stdin" }>
  | { readonly type: "stdin"; readonly bytes: Uint8Array }
);

interface Pending {
  request: Request;
  readonly size: number;
  readonly write: string | undefined;
  isSent: boolean;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Requests on their way to the server, in order, each until it is answered. After a cut those that may have been
 * applied are sent again when that is safe: what is typed has an id and is applied once, a size or a role may be
 * said twice. A signal may not: who sent it is told that nobody knows.
 */
export class Outgoing {
  #pending: Pending[] = [];
  #bytes = 0;
  #send: ((request: Request) => void) | undefined;

  /**
   * Settles when the server has answered. `write` names the write that an input is a piece of: when one piece is refused,
   * those behind it are not sent.
   */
  add(request: Request, write?: string): Promise<void> {
    const size = request.type === "stdin" ? request.bytes.length : 0;
    const merged = request.type === "resize" ? this.#replaceSize(request) : undefined;
    if (merged !== undefined) return merged;
    if (this.#pending.length >= PENDING_FRAMES || this.#bytes + size > PENDING_BYTES)
      return handled(Promise.reject(queueFull()));
    const pending = { request, size, write, isSent: false, done: Promise.withResolvers<void>() };
    this.#pending.push(pending);
    this.#bytes += size;
    this.#sendMore();
    return handled(pending.done.promise);
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  has(type: Request["type"]): boolean {
    return this.#pending.some(({ request }) => request.type === type);
  }

  /** Whether there is room for a whole write, so that none is taken by half. */
  hasRoom({ frames, bytes }: { readonly frames: number; readonly bytes: number }): boolean {
    return this.#pending.length + frames <= PENDING_FRAMES && this.#bytes + bytes <= PENDING_BYTES;
  }

  answer(id: string, fault?: Fault): void {
    const at = this.#pending.findIndex(({ request }) => request.id === id);
    const [found] = at === -1 ? [] : this.#pending.splice(at, 1);
    if (found === undefined) return;
    this.#settle(found, fault);
    if (fault !== undefined && found.write !== undefined) this.#dropRest(found.write, fault);
    this.#sendMore();
  }

  /** There is a connection: everything that is pending goes, the oldest first. */
  open(send: (request: Request) => void): void {
    this.#send = send;
    this.#sendMore();
  }

  cut(): void {
    this.#send = undefined;
    const [lost, kept] = [
      this.#pending.filter(isLost),
      this.#pending.filter((one) => !isLost(one)),
    ];
    this.#pending = kept;
    for (const pending of kept) pending.isSent = false;
    for (const pending of lost) this.#settle(pending, unknownOutcome());
  }

  /** Control is lost: refuses all requests but those from the last `take` on, which are sent again. */
  refuse(fault: Fault): void {
    this.#send = undefined;
    const isTake = ({ request }: Pending) =>
      request.type === "control" && request.action === "take";
    const at = this.#pending.findLastIndex(isTake);
    const refused = this.#pending.splice(0, at === -1 ? this.#pending.length : at);
    for (const pending of this.#pending) pending.isSent = false;
    for (const pending of refused) this.#settle(pending, fault);
  }

  /** Nothing is sent any more. The end of the session is what `close` and `eof` wanted. */
  end(fault: Fault): void {
    this.#send = undefined;
    const pending = this.#pending;
    this.#pending = [];
    for (const one of pending) {
      const { type } = one.request;
      const isGranted = fault.code === "already_exited" && (type === "close" || type === "eof");
      this.#settle(one, isGranted ? undefined : fault);
    }
  }

  #sendMore(): void {
    let underWay = 0;
    let write: string | undefined;
    for (const pending of this.#pending.slice(0, WINDOW_FRAMES)) {
      const isRoom = underWay === 0 || underWay + pending.size <= WINDOW_BYTES;
      // The piece before it may yet be refused, and what was written must not have a hole.
      const mustWait = pending.write !== undefined && pending.write === write;
      if (this.#send === undefined || (!pending.isSent && (!isRoom || mustWait))) return;
      underWay += pending.size;
      write = pending.write;
      if (pending.isSent) continue;
      pending.isSent = true;
      this.#send(pending.request);
    }
  }

  #dropRest(write: string, fault: Fault): void {
    const isRest = (pending: Pending) => pending.write === write && !pending.isSent;
    const rest = this.#pending.filter(isRest);
    this.#pending = this.#pending.filter((pending) => !isRest(pending));
    for (const pending of rest) this.#settle(pending, fault);
  }

  /** Of sizes that nobody has heard of only the last one matters. */
  #replaceSize(request: Request): Promise<void> | undefined {
    const unsent = this.#pending.find((one) => one.request.type === "resize" && !one.isSent);
    if (unsent === undefined) return undefined;
    unsent.request = request;
    return unsent.done.promise;
  }

  #settle({ size, done }: Pending, fault: Fault | undefined): void {
    this.#bytes -= size;
    if (fault === undefined) done.resolve();
    else done.reject(fault);
  }
}

function isLost({ request, isSent }: Pending): boolean {
  return isSent && request.type === "signal";
}

export function queueFull(): Fault {
  return new Fault("queue_full", "too much waits to be sent already; wait for what was written", {
    details: { frames: PENDING_FRAMES, bytes: PENDING_BYTES },
  });
}

function unknownOutcome(): Fault {
  const sentence =
    "the connection was cut before the answer: it is not known whether the signal was sent";
  return new Fault("host_unavailable", sentence);
}
