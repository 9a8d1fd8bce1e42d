import { Backoff } from "#client/transport/backoff.ts";
import { Connection, type Ended } from "#client/transport/connection.ts";
import { EventQueue } from "#client/transport/event-queue.ts";
import { createId } from "#client/transport/random-id.ts";
import type { Transport } from "#client/transport.ts";
import { asFault, Fault, fromFaultBody } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { BINARY_V1, BINARY_V2, BINARY_V3, nameAttachment } from "#contract/terminal/input-frame.ts";
import { defined } from "#contract/values/defined.ts";
import { Claim } from "./claim.ts";
import { Cursor } from "./cursor.ts";
import {
  detached,
  finalCodes,
  handled,
  hasExited,
  mayGetBetter,
  notController,
  TAKEN_OVER,
} from "./endings.ts";
import type { AttachEvent, FrameOf } from "./frames.ts";
import { createEncoder, decodeMessage, type Received } from "./frames.ts";
import { Outgoing, type Request } from "./outgoing.ts";

/** That nobody has read. Beyond it the connection is given up, until half of it is read. */
const QUEUE_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_LONGEST_MS = 30_000;

export interface AttachOptions {
  /** Absent = the first byte that is kept. */
  readonly since?: number | "tail" | undefined;
  /** Absent = viewer. */
  readonly role?: "viewer" | "controller" | undefined;
  /** Takes control from who has it, once: not after a cut. */
  readonly takeover?: boolean | undefined;
  /** The screen instead of history. */
  readonly paint?: boolean | undefined;
  /** False: output and input as JSON. Absent = true. */
  readonly binary?: boolean | undefined;
  /** Watches when another client has taken control. Absent: `taken_over` is the end. */
  readonly stay?: boolean | undefined;
  /** In process: reads up to the exit, or to the last byte of descendants, and is not counted as a viewer. */
  readonly reads?: "exit" | "final" | undefined;
  /** Detaches. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides for tests. */
  readonly pingMs?: number | undefined;
  readonly queueBytes?: number | undefined;
}

export interface AttachDeps {
  readonly transport: Pick<Transport, "socket" | "random" | "pause">;
  /** Asked when a handshake fails: no WebSocket says why. */
  readonly getSession: (sessionId: string, signal: AbortSignal) => Promise<Session>;
}

/** Attaches, and stays attached through cuts until the session ends, somebody takes over, or it is disposed. */
export function openAttachment(
  deps: AttachDeps,
  sessionId: string,
  options: AttachOptions = {},
): Attachment {
  const attachment = new Attachment(deps, sessionId, options);
  void attachment.start();
  return attachment;
}

/**
 * ```
 *   connecting ──connected──▶ open ──cut──▶ waiting ──▶ connecting …
 *       │ refused              │ exit, 4001     ▲
 *       ▼                      ▼                │ half of it is read
 *      over ◀──────────────── over   open ──▶ paused (the reader is 8 MiB behind)
 * ```
 * Read it with `for await`; leaving the loop and coming back misses nothing. A socket that can be paused waits for a
 * reader that falls behind. A browser's cannot: it is closed, and the next one continues at the cursor.
 */
export class Attachment implements AsyncIterable<AttachEvent>, AsyncDisposable {
  readonly #deps: AttachDeps;
  readonly #sessionId: string;
  readonly #options: AttachOptions;
  readonly #ending = new AbortController();
  readonly #events: EventQueue<AttachEvent>;
  readonly #cursor = new Cursor();
  readonly #outgoing = new Outgoing();
  readonly #claim: Claim;
  /** The session counts its inputs by this name, over all connections. */
  readonly #name = createId();
  readonly #backoff: Backoff;
  readonly #abort = () => this.#finish(detached());
  #connection: Connection | undefined;
  #drained: PromiseWithResolvers<void> | undefined;
  #delivered: number | undefined;
  #size: { readonly cols: number; readonly rows: number } | undefined;
  #retryAfterMs = 0;
  #isConnected = false;
  #wasConnected = false;
  #isLost = false;
  /** The session has ended, and the server still answers what was asked before. */
  #leaving: Fault | undefined;
  #over: Fault | undefined;

  constructor(deps: AttachDeps, sessionId: string, options: AttachOptions) {
    this.#deps = deps;
    this.#sessionId = sessionId;
    this.#options = options;
    const { role = "viewer", takeover = false } = options;
    this.#claim = new Claim({ role, takeover });
    this.#backoff = new Backoff(deps.transport.random);
    this.#events = new EventQueue((event) => this.#taken(event));
  }

  /** Behind the last byte that the reader has got: where another attachment would go on. */
  get offset(): number | undefined {
    return this.#delivered;
  }

  /** Of the control that this attachment holds. */
  get generation(): number | undefined {
    return this.#claim.generation;
  }

  [Symbol.asyncIterator](): AsyncIterator<AttachEvent, undefined> {
    return this.#events[Symbol.asyncIterator]();
  }

  /**
   * Settles when the session has taken it, once, through cuts. With an `id` also once over several attachments, among the last
   * `limits.input_ids_remembered` ids of the session.
   */
  write(data: string | Uint8Array, { id }: { readonly id?: string } = {}): Promise<void> {
    const why = this.#over ?? this.#leaving;
    if (why !== undefined) return handled(Promise.reject(why));
    // A copy: it may be sent again after a cut, whatever has become of the caller's buffer.
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
    return this.#outgoing.write(bytes, { id: id ?? createId(), isOwnId: id !== undefined });
  }

  /** The end of input: closes a pipe, types the terminal's end-of-file character. */
  eof(): Promise<void> {
    return this.#ask({ type: "eof", id: createId() });
  }

  /** The last one is sent again after a cut. */
  resize(cols: number, rows: number): Promise<void> {
    this.#size = { cols, rows };
    return this.#ask({ type: "resize", id: createId(), cols, rows });
  }

  /** Not said again after a cut, for it could be sent twice: then it is rejected. */
  signal(signal: string): Promise<void> {
    return this.#ask({ type: "signal", id: createId(), signal });
  }

  take(): Promise<void> {
    const got = this.#claim.asks();
    const asked = this.#ask({ type: "control", id: createId(), action: "take" });
    return handled(asked.then(got));
  }

  release(): Promise<void> {
    this.#claim.release();
    return this.#ask({ type: "control", id: createId(), action: "release" });
  }

  /** Ends the session itself. */
  close(reason?: string): Promise<void> {
    const why = defined({ reason });
    return this.#ask({ type: "close", id: createId(), ...why });
  }

  /** Leaves; the session continues. Input that was not acknowledged is rejected; output that was not read stays readable. */
  async detach(): Promise<void> {
    this.#finish(detached());
    await this.#connection?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach();
  }

  async start(): Promise<void> {
    const { signal } = this.#options;
    if (signal?.aborted === true) this.#abort();
    signal?.addEventListener("abort", this.#abort, { once: true });
    try {
      while (this.#over === undefined) await this.#live();
    } catch (error) {
      // Over in the middle of a wait; anything else ends it with its reason.
      if (this.#over === undefined) this.#fail(asFault(error));
    }
  }

  /** One connection, and the wait before the next. */
  async #live(): Promise<void> {
    const { transport } = this.#deps;
    const ended = await this.#connect().ended;
    const wasConnected = this.#isConnected;
    this.#isConnected = false;
    this.#outgoing.cut();
    if (this.#leaving !== undefined) this.#finish(this.#leaving);
    if (this.#over !== undefined || this.#isFinal(ended)) return;
    if (ended.code === TAKEN_OVER) return;
    if (wasConnected || !this.#isLost) this.#push({ type: "lost", ...ended });
    this.#isLost = true;
    if (this.#drained !== undefined) {
      await this.#drained.promise;
      this.#drained = undefined;
      return;
    }
    if (!wasConnected && (await this.#askWhy()) === "taken_over") return;
    const wait = Math.max(this.#backoff.next(), this.#retryAfterMs);
    this.#retryAfterMs = 0;
    await transport.pause(wait, this.#ending.signal);
  }

  #connect(): Connection {
    const { since, paint = false, binary = true, pingMs } = this.#options;
    const query = {
      session_id: this.#sessionId,
      since: this.#cursor.next ?? since,
      ...this.#claim.attempt(),
      paint: paint && !this.#cursor.isPainted ? true : undefined,
    };
    const named = nameAttachment(this.#name);
    const protocols = binary ? [BINARY_V3, named, BINARY_V2, BINARY_V1] : [];
    const socket = this.#deps.transport.socket("session.attach", query, protocols);
    this.#connection = new Connection(socket, {
      onMessage: (message) => this.#receive(decodeMessage(message)),
      ping: JSON.stringify({ type: "ping" }),
      pingMs,
    });
    return this.#connection;
  }

  #isFinal({ code, reason }: Ended): boolean {
    if (code === TAKEN_OVER) this.#lose(notController(reason));
    const fault = finalCodes[code];
    if (fault !== undefined)
      this.#fail(new Fault(fault, reason || `the server closed with ${code}`));
    return this.#over !== undefined;
  }

  /** Another client has control: the end, or the next connection watches. */
  #lose(fault: Fault): void {
    if (this.#options.stay !== true) {
      this.#finish(fault, { type: "taken_over" });
      return;
    }
    this.#claim.release();
    this.#outgoing.refuse(fault);
    this.#push({ type: "taken_over" });
  }

  /** Throws what cannot get better. */
  async #askWhy(): Promise<"taken_over" | undefined> {
    const { signal } = this.#ending;
    let session: Session;
    try {
      session = await this.#deps.getSession(this.#sessionId, signal);
    } catch (error) {
      if (mayGetBetter(asFault(error))) return undefined;
      throw error;
    }
    const since = this.#cursor.next ?? this.#options.since;
    if (typeof since === "number" && since > session.tail)
      throw new Fault(
        "offset_out_of_range",
        `${since} is behind the end of the output, ${session.tail}`,
      );
    const verdict = this.#claim.judge(session);
    const holder = session.controller?.holder ?? "somebody else";
    const sentence = `${holder} controls this session; takeover takes it`;
    if (verdict === "refused") throw notController(sentence);
    if (verdict === "taken_over") this.#lose(notController(sentence));
    return verdict;
  }

  /** False for what is no frame. */
  #receive(frame: Received | undefined): boolean {
    if (frame === undefined) return false;
    switch (frame.type) {
      case "output":
      case "gap":
        for (const event of this.#cursor.pass(frame)) this.#push(event);
        break;
      case "connected":
        this.#connected(frame);
        break;
      case "screen":
        this.#cursor.paint(frame.offset);
        this.#push(frame, frame.state.length);
        break;
      case "ack":
        this.#outgoing.answer(frame);
        this.#leaveWhenAnswered();
        break;
      case "error":
        this.#refused(frame);
        break;
      case "exit":
        this.#exited(frame);
        break;
      case "pong":
        break;
      default:
        this.#told(frame);
    }
    return true;
  }

  /** The server answers what it was asked before it closes: what was typed and read may well have been the reason. */
  #exited(frame: FrameOf<"exit">): void {
    this.#leaving = hasExited();
    this.#events.push(frame);
    this.#events.end();
    this.#leaveWhenAnswered();
  }

  #leaveWhenAnswered(): void {
    if (this.#leaving !== undefined && this.#outgoing.isEmpty) this.#finish(this.#leaving);
  }

  #told(frame: FrameOf<"resized" | "control" | "closing">): void {
    if (frame.type === "control") this.#claim.changed(frame.holder, frame.generation);
    if (frame.type === "closing")
      this.#retryAfterMs = Math.min(RETRY_AFTER_LONGEST_MS, frame.retry_after_ms);
    // A newer server's frames are not for us.
    if (["resized", "control", "closing"].includes(frame.type)) this.#push(frame);
  }

  #connected(frame: FrameOf<"connected">): void {
    this.#backoff.reset();
    this.#isConnected = true;
    this.#isLost = false;
    this.#cursor.begin(frame.offset);
    this.#delivered ??= frame.offset;
    this.#claim.connected(frame.role, frame.generation);
    this.#push(this.#wasConnected ? { ...frame, type: "restored" } : frame);
    const connection = this.#connection;
    const encode = createEncoder(connection?.protocol ?? "");
    this.#outgoing.open((request, mark) => connection?.send(encode(request, mark)), frame.applied);
    const isForgotten = this.#wasConnected && !this.#outgoing.has("resize");
    this.#wasConnected = true;
    if (this.#size !== undefined && isForgotten && frame.role === "controller")
      void this.#ask({ type: "resize", id: createId(), ...this.#size });
  }

  #refused({ id: named, sequence, expected, code, message }: FrameOf<"error">): void {
    const fault = fromFaultBody({ code, message });
    const id = this.#outgoing.answer({ id: named, sequence, expected, fault }) ?? named;
    this.#leaveWhenAnswered();
    // The server closes with 4001 next.
    if (!this.#isConnected && code === "not_controller" && this.#claim.hadControl) return;
    if (!this.#isConnected && !mayGetBetter(fault)) this.#fail(fault);
    else this.#push({ type: "error", id, fault });
  }

  #ask(request: Request): Promise<void> {
    const why = this.#over ?? this.#leaving;
    if (why !== undefined) return handled(Promise.reject(why));
    return this.#outgoing.add(request);
  }

  #push(event: AttachEvent, bytes = event.type === "output" ? event.bytes.length : 0): void {
    this.#events.push(event, bytes);
    const { queueBytes = QUEUE_BYTES } = this.#options;
    if (this.#events.cost <= queueBytes || this.#drained !== undefined || this.#over) return;
    if (this.#connection?.pause() === true) return;
    this.#drained = Promise.withResolvers();
    this.#connection?.drop("the reader is too far behind");
  }

  #taken(event: AttachEvent): void {
    if (event.type === "output") this.#delivered = event.offset + event.bytes.length;
    if (event.type === "gap") this.#delivered = event.to;
    if (event.type === "screen") this.#delivered = event.offset;
    const { queueBytes = QUEUE_BYTES } = this.#options;
    if (this.#events.cost > queueBytes / 2) return;
    this.#drained?.resolve();
    this.#connection?.resume();
  }

  #fail(fault: Fault): void {
    this.#finish(fault, { type: "failed", fault });
  }

  #finish(why: Fault, last?: AttachEvent): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    if (last !== undefined) this.#events.push(last);
    this.#events.end();
    this.#outgoing.end(why);
    this.#drained?.resolve();
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#ending.abort(why);
    this.#connection?.drop("done");
  }
}
