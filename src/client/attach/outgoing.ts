import { Fault } from "#contract/fault.ts";
import type { ClientFrame } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import { handled } from "./endings.ts";
import { InputNumbers } from "./input-numbers.ts";

/** Fewer than the ids that a session remembers: whatever is sent again is still known there. */
export const PENDING_FRAMES = 256;
export const PENDING_BYTES = limits.input_queue_bytes;
/**
 * Sent and not acknowledged. What is typed is far below it; what is pasted goes piece by piece, and however short a
 * connection lives, it does not spend all of its life on saying the same again.
 */
const WINDOW_BYTES = 64 * 1024;
const WINDOW_FRAMES = 32;
/** The most bytes of one input. */
const PIECE_BYTES = 48 * 1024;

/** A client's frame before it is encoded. */
export type Request = { readonly id: string } & (
  | Exclude<ClientFrame, { readonly type: "ping" | "stdin" }>
  | {
      readonly type: "stdin";
      readonly bytes: Uint8Array;
      /** The caller has named it: it is applied once, also when another attachment sends it again. */
      readonly isOwnId?: boolean;
    }
);

interface Pending {
  request: Request;
  readonly size: number;
  readonly write: string | undefined;
  isSent: boolean;
  /** The number under which it was sent last; undefined while it was only sent by its id. */
  sequence: number | undefined;
  /** It was sent by its id, over a connection without numbers. */
  wasNamed: boolean;
  /** How often control was asked for before it. */
  readonly takes: number;
  /** It is not sent again: this is its fault unless the session has applied it. */
  verdict: Fault | undefined;
  readonly done: PromiseWithResolvers<void>;
}

/** How a request goes: an input by its number, where the session numbers inputs; by its id where it may be known by that. */
export interface Mark {
  readonly sequence: number | undefined;
  readonly isNamed: boolean;
}

type Send = (request: Request, mark: Mark) => void;

export interface Answer {
  readonly id: string | undefined;
  readonly sequence?: number | undefined;
  readonly fault?: Fault | undefined;
  /** The number that the session applies next. */
  readonly expected?: number | undefined;
}

/**
 * Requests on their way to the server, in order, each until it is answered. After a cut those that may have been
 * applied are sent again when that is safe: what is typed has a number or an id and is applied once, a size or a role may be
 * said twice. A signal may not: its sender is told that the outcome is unknown. So is the sender of an input whose number the
 * session has forgotten.
 */
export class Outgoing {
  #pending: Pending[] = [];
  #bytes = 0;
  #takes = 0;
  #send: Send | undefined;
  #numbers: InputNumbers | undefined;

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
    if (isTake(request)) this.#takes += 1;
    const pending = {
      ...{ request, size, write, isSent: false, sequence: undefined, wasNamed: false },
      ...{ takes: this.#takes, verdict: undefined, done: Promise.withResolvers<void>() },
    };
    this.#pending.push(pending);
    this.#bytes += size;
    this.#sendMore();
    return handled(pending.done.promise);
  }

  /** Bytes as one input or several, of which none is sent when there is no room for all. */
  write(bytes: Uint8Array, { id, isOwnId }: WriteName): Promise<void> {
    const frames = Math.ceil(bytes.length / PIECE_BYTES);
    if (!this.hasRoom({ frames, bytes: bytes.length })) return handled(Promise.reject(queueFull()));
    const pieces = Array.from({ length: frames }, (_, at) => {
      const piece = bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES);
      const pieceId = at === 0 ? id : `${id}.${at}`;
      return this.add({ type: "stdin", id: pieceId, bytes: piece, isOwnId }, id);
    });
    return handled(Promise.all(pieces).then(() => undefined));
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

  /** Gives the id of the request that was answered. */
  answer({ id, sequence, fault, expected }: Answer): string | undefined {
    const isNumbered = this.#numbers !== undefined && sequence !== undefined;
    const found = this.#pending.find((one) =>
      isNumbered ? one.isSent && one.sequence === sequence : one.request.id === id,
    );
    if (found === undefined) return undefined;
    const why = isNumbered ? this.#count(found, { sequence, fault, expected }) : fault;
    if (found.isSent || !isNumbered) this.#take(found, why);
    this.#sendMore();
    return found.request.id;
  }

  /**
   * There is a connection: everything that is pending goes, the oldest first. `applied` is the number of the last applied
   * input, null when the session does not know this attachment, undefined where inputs go by their ids.
   */
  open(send: Send, applied?: number | null): void {
    this.#send = send;
    this.#numbers = applied === undefined ? undefined : new InputNumbers(applied ?? 0);
    for (const pending of this.#pending.filter(({ sequence }) => sequence !== undefined))
      this.#learn(pending, applied);
    this.#sendMore();
  }

  cut(): void {
    this.#send = undefined;
    this.#numbers = undefined;
    const [lost, kept] = [
      this.#pending.filter(isLost),
      this.#pending.filter((one) => !isLost(one)),
    ];
    this.#pending = kept;
    for (const pending of kept) pending.isSent = false;
    for (const pending of lost) this.#settle(pending, unknownOutcome());
  }

  /**
   * Control is lost: refuses all requests but those from the last `take` on, which are sent again. The next connection tells
   * which of the numbered inputs were applied before.
   */
  refuse(fault: Fault): void {
    this.#send = undefined;
    const at = this.#pending.findLastIndex(({ request }) => isTake(request));
    const refused = this.#pending.splice(0, at === -1 ? this.#pending.length : at);
    for (const pending of this.#pending) pending.isSent = false;
    const unknown = refused.filter(({ sequence }) => sequence !== undefined);
    for (const pending of unknown) pending.verdict = fault;
    this.#pending.unshift(...unknown);
    for (const pending of refused) if (!unknown.includes(pending)) this.#settle(pending, fault);
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
      const mayGo = isRoom && !mustWait && !this.#isHeld(pending);
      if (!pending.isSent && !mayGo) return;
      underWay += pending.size;
      write = pending.write;
      if (!pending.isSent) this.#sendOne(pending);
    }
  }

  #isHeld({ request }: Pending): boolean {
    if (this.#send === undefined) return true;
    return isInput(request) && this.#numbers?.isSettling === true;
  }

  #sendOne(pending: Pending): void {
    const numbers = isInput(pending.request) ? this.#numbers : undefined;
    pending.isSent = true;
    pending.sequence = numbers?.take();
    this.#send?.(pending.request, { sequence: pending.sequence, isNamed: pending.wasNamed });
    if (numbers === undefined) pending.wasNamed = true;
  }

  /** Settles an input whose answer was lost with the connection, unless it has to be sent again. */
  #learn(pending: Pending, applied: number | null | undefined): void {
    const isKnown = typeof applied === "number";
    const isApplied = isKnown && (pending.sequence ?? 0) <= applied;
    const fault = isKnown ? pending.verdict : unknownInput();
    pending.sequence = undefined;
    if (isApplied) this.#take(pending, undefined);
    else if (fault !== undefined) this.#take(pending, fault);
  }

  /** Gives the fault to tell. An input that is to be sent again is unsent then. */
  #count(found: Pending, { sequence, fault, expected }: Counted): Fault | undefined {
    if (fault === undefined) {
      this.#numbers?.acknowledged();
      return undefined;
    }
    const why = this.#numbers?.refused({ sequence, takes: found.takes, fault, expected });
    found.sequence = undefined;
    found.isSent = why !== undefined;
    return why;
  }

  #take(found: Pending, fault: Fault | undefined): void {
    this.#pending = this.#pending.filter((pending) => pending !== found);
    this.#settle(found, fault);
    if (fault !== undefined && found.write !== undefined) this.#dropRest(found.write, fault);
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

interface WriteName {
  readonly id: string;
  /** See `Request`. */
  readonly isOwnId: boolean;
}

interface Counted {
  readonly sequence: number;
  readonly fault: Fault | undefined;
  readonly expected: number | undefined;
}

function isTake(request: Request): boolean {
  return request.type === "control" && request.action === "take";
}

function isInput({ type }: Request): boolean {
  return type === "stdin" || type === "eof";
}

function isLost({ request, isSent }: Pending): boolean {
  return isSent && request.type === "signal";
}

export function queueFull(): Fault {
  return new Fault("queue_full", "too much waits to be sent already; wait for what was written", {
    details: { frames: PENDING_FRAMES, bytes: PENDING_BYTES },
  });
}

function unknownInput(): Fault {
  const sentence =
    "the connection was cut before the answer, and the session no longer knows whether this input was applied";
  return new Fault("host_unavailable", sentence);
}

function unknownOutcome(): Fault {
  const sentence =
    "the connection was cut before the answer: it is not known whether the signal was sent";
  return new Fault("host_unavailable", sentence);
}
