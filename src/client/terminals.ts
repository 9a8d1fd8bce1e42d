import { findBase64, toBase64 } from "#client/transport/base64.ts";
import { Connection } from "#client/transport/connection.ts";
import { EventQueue } from "#client/transport/event-queue.ts";
import { createId } from "#client/transport/random-id.ts";
import { Fault, fromFaultBody } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { TerminalClientFrame, TerminalServerFrame } from "#contract/terminal-frames.ts";
import { defined } from "#contract/values/defined.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import type { Transport } from "./transport.ts";

/** That nobody has read; one socket cannot hold back one terminal, so beyond it the whole is cut. */
const QUEUE_BYTES = 32 * 1024 * 1024;
const UNSENT_BYTES = limits.input_queue_bytes;
const PIECE_BYTES = 48 * 1024;

type ServerType = TerminalServerFrame["type"];
type ServerPayload<T extends ServerType> = Extract<TerminalServerFrame, { type: T }>["payload"];
type ClientPayload<T extends TerminalClientFrame["type"]> = Omit<
  // Ids come in as the text that they are on the wire.
  WithText<Extract<TerminalClientFrame, { type: T }>["payload"]>,
  "request_id"
>;
type WithText<T> = {
  [K in keyof T]: T[K] extends string | undefined ? (string & {}) | Extract<T[K], undefined> : T[K];
};
type Event<T extends ServerType> = { readonly type: T } & Readonly<ServerPayload<T>>;

export type TerminalsEvent =
  | {
      readonly type: "terminal.data";
      readonly session_id: string;
      readonly offset: number;
      readonly bytes: Uint8Array;
    }
  | Event<"terminal.gap">
  | Event<"terminal.control">
  | Event<"terminal.close">
  | Event<"terminal.exit">
  | Event<"terminal.error">
  /** The last one: open another socket and attach with the offsets that you have. */
  | { readonly type: "lost"; readonly code: number; readonly reason: string };

export type TerminalOpened = Omit<ServerPayload<"terminal.opened">, "request_id">;
export type TerminalAttached = Omit<ServerPayload<"terminal.attached">, "request_id">;

export interface TerminalsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Override for tests. */
  readonly queueBytes?: number | undefined;
}

export function openTerminals(transport: Transport, options: TerminalsOptions = {}): Terminals {
  return new Terminals(transport, options);
}

/**
 * Many terminals on one socket, as the wire has it: no more than requests with their answers, and events with bytes in
 * them. It does not come back by itself; `attach` on a session does.
 */
export class Terminals implements AsyncIterable<TerminalsEvent>, AsyncDisposable {
  readonly #options: TerminalsOptions;
  readonly #connection: Connection;
  readonly #opened = Promise.withResolvers<void>();
  readonly #events = new EventQueue<TerminalsEvent>(() => undefined);
  readonly #asked = new Map<string, PromiseWithResolvers<TerminalServerFrame["payload"]>>();
  readonly #abort = () => this.#connection.drop("aborted");

  constructor(transport: Transport, options: TerminalsOptions) {
    this.#options = options;
    this.#opened.promise.catch(() => undefined);
    this.#connection = new Connection(transport.socket("terminal.attach", {}, []), {
      onOpen: () => this.#opened.resolve(),
      onMessage: (message) => this.#receive(message),
    });
    void this.#connection.ended.then(({ code, reason }) => this.#end(code, reason));
    if (options.signal?.aborted === true) this.#abort();
    options.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<TerminalsEvent, undefined> {
    return this.#events[Symbol.asyncIterator]();
  }

  /** A new terminal for a task; its output follows from its first byte. */
  async open(request: ClientPayload<"terminal.open">): Promise<TerminalOpened> {
    // The server answers a request with the frame that belongs to it.
    return (await this.#ask("terminal.open", request)) as ServerPayload<"terminal.opened">;
  }

  async attach(request: ClientPayload<"terminal.attach">): Promise<TerminalAttached> {
    return (await this.#ask("terminal.attach", request)) as ServerPayload<"terminal.attached">;
  }

  /**
   * Not acknowledged: what is refused comes as `terminal.error`. The same `input_id` is applied once while it is among
   * the last 1,024 of the session (`limits.input_ids_remembered`); an older one is typed again.
   */
  write(
    session_id: string,
    data: string | Uint8Array,
    options: { readonly input_id?: string } = {},
  ): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    if (this.#connection.unsent + bytes.length > UNSENT_BYTES)
      throw new Fault("queue_full", "too much waits to be sent already");
    const id = options.input_id ?? createId();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const data_b64 = toBase64(bytes.subarray(at, at + PIECE_BYTES));
      const input_id = at === 0 ? id : `${id}.${at / PIECE_BYTES}`;
      this.#send("terminal.data", { session_id, data_b64, input_id });
    }
  }

  /** 0 keeps what is. */
  resize(session_id: string, cols: number, rows: number): void {
    this.#send("terminal.resize", { session_id, cols, rows });
  }

  /** Ends a session; `terminal.close` acknowledges it. */
  close(session_id: string, reason?: string): void {
    this.#send("terminal.close", { session_id, ...defined({ reason }) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  async #ask(
    type: TerminalClientFrame["type"],
    payload: object,
  ): Promise<TerminalServerFrame["payload"]> {
    await this.#opened.promise;
    if (this.#asked.size >= limits.terminals_per_socket)
      throw new Fault("queue_full", "too many terminals are being opened already");
    const request_id = createId();
    const answer = Promise.withResolvers<TerminalServerFrame["payload"]>();
    this.#send(type, { request_id, ...payload });
    this.#asked.set(request_id, answer);
    return await answer.promise;
  }

  #send(type: TerminalClientFrame["type"], payload: object): void {
    if (!this.#connection.isOpen)
      throw new Fault("host_unavailable", "the terminals' connection is not open");
    this.#connection.send(JSON.stringify({ type, payload }));
  }

  #receive(message: unknown): boolean {
    const parsed = typeof message === "string" ? parseObject(message) : undefined;
    if (typeof parsed?.type !== "string" || typeof parsed.payload !== "object") return false;
    if (parsed.payload === null) return false;
    // The server made it by the schema of the contract; checking it again would need all of zod.
    const frame = parsed as TerminalServerFrame;
    return this.#answer(frame) || this.#tell(frame);
  }

  #answer({ type, payload }: TerminalServerFrame): boolean {
    const id = "request_id" in payload ? payload.request_id : undefined;
    const asked = id === undefined ? undefined : this.#asked.get(id);
    if (id === undefined || asked === undefined) return false;
    this.#asked.delete(id);
    if (type === "terminal.error") asked.reject(fromFaultBody(payload));
    else asked.resolve(payload);
    return true;
  }

  /** False for bytes that are none. */
  #tell(frame: TerminalServerFrame): boolean {
    switch (frame.type) {
      case "terminal.data": {
        const { session_id, offset, data_b64 } = frame.payload;
        const bytes = findBase64(data_b64);
        if (bytes === undefined) return false;
        this.#events.push({ type: frame.type, session_id, offset, bytes }, bytes.length);
        break;
      }
      case "terminal.opened":
      case "terminal.attached":
        break;
      case "terminal.gap":
        this.#events.push({ type: frame.type, ...frame.payload });
        break;
      case "terminal.control":
        this.#events.push({ type: frame.type, ...frame.payload });
        break;
      case "terminal.close":
        this.#events.push({ type: frame.type, ...frame.payload });
        break;
      case "terminal.exit":
        this.#events.push({ type: frame.type, ...frame.payload });
        break;
      case "terminal.error":
        this.#events.push({ type: frame.type, ...frame.payload });
        break;
    }
    if (this.#events.cost > (this.#options.queueBytes ?? QUEUE_BYTES))
      this.#connection.drop("the reader is too far behind");
    return true;
  }

  #end(code: number, reason: string): void {
    const lost = new Fault(
      "host_unavailable",
      `the terminals' connection is gone: ${code} ${reason}`,
    );
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#opened.reject(lost);
    for (const asked of this.#asked.values()) asked.reject(lost);
    this.#asked.clear();
    this.#events.push({ type: "lost", code, reason });
    this.#events.end();
  }
}
