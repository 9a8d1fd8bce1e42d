import type { Duplex } from "node:stream";
import { Fault, type FaultBody, fromFaultBody } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { RemovalReason } from "#contract/session-state.ts";
import { Answers, type Waiting } from "./answers.ts";
import {
  encodeInput,
  encodeJson,
  encodeNumbered,
  FrameReader,
  type NumberedMessage,
  type SocketFrame,
} from "./frames.ts";
import type { Hello, HostMethod, HostMethods, HostPush } from "./methods.ts";
import { completeSessions, noNames } from "./older-host.ts";
import { Watch } from "./watch.ts";

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: FaultBody;
}

interface Connected extends ConnectionOptions {
  readonly hello: Hello;
  readonly reader: FrameReader;
}

type Listed = Extract<HostPush, { push: "list" }>;

/** Null for a session that was removed, with the reason as far as the host tells it. */
export type ListListener = (
  sessionId: string,
  session: Session | null,
  reason: RemovalReason | undefined,
) => void;

/** A connection to the host, over any stream of bytes. Loads no schema: the host is the same user's and checks what it is sent. */
export class HostClient implements Disposable {
  readonly hello: Hello;
  readonly #socket: Duplex;
  readonly #answers: Answers;
  readonly #watches = new Map<number, Watch>();
  readonly #closed = Promise.withResolvers<Fault>();
  #onList: ListListener | undefined;
  #serial = 0;

  constructor(socket: Duplex, { hello, reader, answerMs, describeSilence }: Connected) {
    this.#socket = socket;
    this.hello = hello;
    this.#answers = new Answers({
      answerMs,
      probe: () => this.call("host.health", {}),
      describeSilence,
    });
    socket.on("data", (chunk) => {
      for (const frame of framesIn(chunk, reader, socket)) this.#onFrame(frame);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
  }

  /** Resolves when the host has gone. */
  get closed(): Promise<Fault> {
    return this.#closed.promise;
  }

  call<M extends HostMethod>(
    method: M,
    params: HostMethods[M]["params"],
  ): Promise<HostMethods[M]["result"]> {
    const { promise, resolve, reject } = Promise.withResolvers<HostMethods[M]["result"]>();
    this.#ask(method, params, { resolve, reject });
    return promise;
  }

  /** Whether the inputs of named attachments are numbered. */
  get canNumber(): boolean {
    return this.hello.features.includes("numbered");
  }

  /** Types at a place that `session.attach` gave; a host that is too old for it is asked the long way by `call`. */
  get canType(): boolean {
    return this.hello.features.includes("typing");
  }

  type(attachment: number, bytes: Buffer, inputId: string | undefined): Promise<unknown> {
    return this.#type((id) => encodeInput({ id, attachment, input_id: inputId, bytes }));
  }

  /** The same at an attachment that was given a name. */
  typeNumbered(input: Omit<NumberedMessage, "id">): Promise<unknown> {
    return this.#type((id) => encodeNumbered({ ...input, id }));
  }

  /** Follows one session: its tails and its state. `lost` continues a watch whose connection has ended. */
  watch(sessionId: string, lost?: Watch): Promise<Watch> {
    const { promise, resolve, reject } = Promise.withResolvers<Watch>();
    this.#ask(
      "session.watch",
      {
        session_id: sessionId,
        ...(this.hello.features.includes("inline") ? { inline: true } : {}),
      },
      {
        // In the same turn as the answer: what the host says next is already about this watch.
        resolve: ({ watch: number, session }) => {
          const unwatch = () => this.#unwatch(number);
          const watch = lost ?? new Watch(session, unwatch);
          this.#watches.set(number, watch);
          // Disposed while it was asked for.
          if (lost?.state === "closed") unwatch();
          else lost?.onReopened(session, unwatch);
          resolve(watch);
        },
        reject,
      },
    );
    return promise;
  }

  /** Hears of every session that is made, changed or removed. */
  async watchAll(listener: ListListener): Promise<void> {
    this.#onList = listener;
    await this.call("sessions.watch", {});
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #type(encode: (id: number) => Buffer): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (!this.#socket.writable) throw gone();
    this.#serial += 1;
    this.#answers.expect(this.#serial, "session.input", { resolve, reject });
    this.#socket.write(encode(this.#serial));
    return promise;
  }

  #ask<M extends HostMethod>(
    method: M,
    params: HostMethods[M]["params"],
    waiting: Waiting<HostMethods[M]["result"]>,
  ): void {
    if (!this.#socket.writable) {
      waiting.reject(gone());
      return;
    }
    if (typeof Object(params).name === "string" && !this.hello.features.includes("status")) {
      waiting.reject(noNames(this.hello.version));
      return;
    }
    this.#serial += 1;
    // The host answers a method with what the table of methods says.
    this.#answers.expect(this.#serial, method, waiting as Waiting<unknown>);
    this.#socket.write(encodeJson({ id: this.#serial, method, params }));
  }

  #unwatch(number: number): void {
    this.#watches.delete(number);
    if (this.#socket.writable) void this.call("session.unwatch", { watch: number }).catch(ignore);
  }

  #onFrame(frame: SocketFrame): void {
    if (frame.kind === "tail") this.#watches.get(frame.notice.watch)?.onTail(frame.notice);
    else if (frame.kind === "output") this.#watches.get(frame.notice.watch)?.onOutput(frame.notice);
    else if (frame.kind === "done") this.#answers.take(frame.id)?.resolve({});
    else if (frame.kind === "bytes") this.#answers.take(frame.id)?.resolve(frame.result);
    else if (frame.kind === "json") this.#onJson(frame.value);
  }

  #onJson(value: unknown): void {
    const knowsStatus = this.hello.features.includes("status");
    // Our own host's words; see the class.
    const message = (knowsStatus ? value : completeSessions(value)) as Reply | HostPush;
    if ("push" in message) {
      if (message.push === "session") this.#watches.get(message.watch)?.onSession(message.session);
      else this.#onListed(message);
      return;
    }
    if (message.id === undefined) return;
    const waiting = this.#answers.take(message.id);
    if (waiting === undefined) this.#giveBack(message.id, message.result);
    else if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(fromFaultBody(message.error));
  }

  /** An answer that came too late may hold a watch or an attachment at the host. */
  #giveBack(id: number, result: unknown): void {
    const method = this.#answers.takeLate(id);
    const { watch, attachment }: Partial<Record<string, number>> = Object(result);
    if (method === "session.watch" && watch !== undefined) this.#unwatch(watch);
    if (method === "session.attach" && attachment !== undefined)
      void this.call("session.detach", { attachment }).catch(ignore);
  }

  #onListed({ session_id: sessionId, session, reason }: Listed): void {
    // A session that was removed never changes again: to those who follow it that is the same as a host that went.
    if (session === null)
      for (const watch of this.#watches.values())
        if (watch.session.session_id === sessionId) watch.onClosed();
    this.#onList?.(sessionId, session, reason);
  }

  #onClose(): void {
    const fault = gone();
    this.#answers.rejectAll(fault);
    for (const watch of this.#watches.values()) watch.onLost();
    this.#closed.resolve(fault);
  }
}

export interface ConnectionOptions {
  /** How long a host may take to say hello. */
  readonly helloMs?: number | undefined;
  /** And for an answer. */
  readonly answerMs?: number | undefined;
  /** Whether a host has a reason to take longer. */
  readonly isBusy?: (() => boolean) | undefined;
  /** The fault for a host that does not answer. */
  readonly describeSilence: () => Promise<Fault>;
  /** The fault for a stream that ended before the host said hello. */
  readonly describeEnd: (error: Error | undefined) => Fault;
}

/** Waits for the host's hello on this stream. Throws `host_unavailable` when it does not come. */
export async function openHostClient(
  socket: Duplex,
  options: ConnectionOptions,
): Promise<HostClient> {
  const { promise, resolve, reject } = Promise.withResolvers<HostClient>();
  const reader = new FrameReader();
  const onData = (chunk: Buffer) => {
    for (const frame of framesIn(chunk, reader, socket)) {
      const hello: Partial<Hello> = frame.kind === "json" ? Object(frame.value) : {};
      if (hello.type !== "hello") continue;
      socket.off("data", onData);
      // A host says hello first and waits for us: no frame can follow it in this chunk.
      resolve(new HostClient(socket, { ...options, hello: hello as Hello, reader }));
      return;
    }
  };
  socket.on("data", onData);
  socket.once("error", (error) =>
    reject(error instanceof Fault ? error : options.describeEnd(error)),
  );
  socket.once("close", () => reject(options.describeEnd(undefined)));
  using _limit = watchSilence(socket, options, async () => {
    const fault = await options.describeSilence();
    socket.destroy();
    reject(fault);
  });
  return await promise;
}

/** Calls back once the host has been silent for too long. */
function watchSilence(
  socket: Duplex,
  { helloMs = limits.host_hello_ms, isBusy = () => false }: ConnectionOptions,
  onSilent: () => Promise<void>,
): Disposable {
  const check = () => {
    // An event of its own reports its end.
    if (socket.destroyed) return;
    if (isBusy()) timer.refresh();
    else void onSilent();
  };
  const timer = setTimeout(check, helloMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Whoever sends what is no frame is no host of ours: that ends the connection, and not the process that listens. */
function* framesIn(chunk: Buffer, reader: FrameReader, socket: Duplex): Generator<SocketFrame> {
  try {
    yield* reader.push(chunk);
  } catch (cause) {
    const message = "what answers there does not speak as a host does";
    socket.destroy(new Fault("host_unavailable", message, { details: { errno: "EPROTO" }, cause }));
  }
}

function gone(): Fault {
  return new Fault(
    "host_unavailable",
    "the host has gone away; what it ran may be lost, its logs are not",
  );
}

function ignore(): void {
  // The connection ended first; then there is nothing to unwatch.
}
