import type { Socket } from "node:net";
import type { Logger } from "#base/logger.ts";
import { asFault, Fault, isUnexpected, toFaultBody } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { parseRequest } from "#contract/parse.ts";
import type { InputNumber } from "#host/input-counters.ts";
import type { Secrets } from "#host/secrets.ts";
import type { HandedConnection } from "#host/session/hand-over.ts";
import type { HostAccess } from "./bound-access.ts";
import { descriptorOf } from "./descriptor-of.ts";
import {
  encodeBytes,
  encodeDone,
  encodeJson,
  FrameReader,
  type InputMessage,
  type NumberedMessage,
} from "./frames.ts";
import { type Attachment, createHandlers, type Handlers } from "./handlers.ts";
import { features, type Hello, type HostMethod, type HostUpgrade, PROTOCOL } from "./methods.ts";
import { Notifier } from "./notifier.ts";
import {
  accessOf,
  admitOwner,
  bindOwner,
  formatOwner,
  type Owner,
  parseOwner,
  wrongSecret,
} from "./owner.ts";
import { Envelope, type RequestOf, requests } from "./requests.ts";

export interface ConnectionDeps extends HostAccess {
  readonly log: Logger;
  readonly version: string;
  /** Absent = every connection is the user's. */
  readonly secrets?: Secrets | undefined;
}

/** The last number of an attachment. All clients have one row of them, so that a viewer is never called as another. */
export interface Numbers {
  last: number;
}

/** A client that asks and does not read its answers is cut at this. */
const UNREAD_BYTES = 32 * 1024 * 1024;
const SOON_MS = 1;
const NO_BYTES = Buffer.alloc(0);

/** One client of the host. Whatever it held is let go when it ends; the sessions do not notice. */
export class Connection {
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #reader = new FrameReader();
  readonly #attachments = new Map<number, Attachment>();
  readonly #numbers: Numbers;
  #owner: Owner = { kind: "unknown" };
  /** The part of the host that its owner may use. */
  #access: HostAccess;
  #notifier: Notifier;
  #handlers: Handlers;
  #soon: Buffer[] = [];
  #soonTimer: NodeJS.Timeout | undefined;
  #inFlight = 0;
  /** What it sends is no longer understood. */
  #isLost = false;
  #upgradeId: number | undefined;

  constructor(socket: Socket, deps: ConnectionDeps, numbers: Numbers) {
    this.#socket = socket;
    this.#deps = deps;
    this.#numbers = numbers;
    this.#access = deps;
    this.#notifier = this.#createNotifier();
    this.#handlers = this.#createHandlers();
    socket.on("data", (chunk) => this.#onData(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
  }

  /** The host speaks first. */
  greet(): void {
    const { version } = this.#deps;
    const hello: Hello = { type: "hello", protocol: PROTOCOL, features, pid: process.pid, version };
    this.#send(encodeJson(hello));
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Answers wait for a client that does not read. */
  get hasUnsent(): boolean {
    if (this.#soon.length > 0) this.#send(NO_BYTES);
    return this.#socket.writableLength > 0;
  }

  /** It has a named attachment, whose inputs an older program does not understand. */
  get isNumbered(): boolean {
    return [...this.#attachments.values()].some(({ name }) => name !== undefined);
  }

  /** Undefined when it has ended. */
  handOver(): HandedConnection | undefined {
    const fd = descriptorOf(this.#socket);
    if (fd === undefined || this.#socket.destroyed) return undefined;
    return {
      fd,
      unread_b64: this.#reader.rest.toString("base64"),
      serial: this.#numbers.last,
      attachments: [...this.#attachments].map(([number, place]) => ({
        number,
        session_id: place.session.id,
        viewer: place.viewer,
        role: place.role,
        generation: place.generation ?? null,
        name: place.name ?? null,
      })),
      ...this.#notifier.handOver(),
      owner: formatOwner(this.#owner),
      upgrade_id: this.#upgradeId ?? null,
    };
  }

  /** Goes on with a client of the program before us, which notices nothing. */
  adopt(handed: HandedConnection, outcome: HostUpgrade | Fault): void {
    this.#own(parseOwner(handed.owner));
    for (const { number, session_id, viewer, role, ...rest } of handed.attachments) {
      const session = this.#access.sessions.find(session_id);
      const [generation, name] = [rest.generation ?? undefined, rest.name ?? undefined];
      if (session !== undefined)
        this.#attachments.set(number, { session, viewer, role, name, generation });
    }
    this.#notifier.adopt(handed);
    const id = handed.upgrade_id;
    if (id !== null && outcome instanceof Fault)
      this.#send(encodeJson({ id, error: toFaultBody(outcome) }));
    else if (id !== null) this.#send(encodeJson({ id, result: outcome }));
    this.#onData(Buffer.from(handed.unread_b64, "base64"));
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #createNotifier(): Notifier {
    const { sessions } = this.#access;
    return new Notifier({ sessions, send: (bytes, sent) => this.#send(bytes, sent) });
  }

  #createHandlers(): Handlers {
    const numbers = this.#numbers;
    return createHandlers({
      ...this.#access,
      notifier: this.#notifier,
      attachments: this.#attachments,
      nextNumber: () => {
        numbers.last += 1;
        return numbers.last;
      },
      bind: (request) => this.#bind(request),
    });
  }

  #bind(request: RequestOf<"connection.bind">): void {
    const { secrets } = this.#deps;
    this.#own(bindOwner(this.#owner, request, { secrets, access: this.#deps }));
    if (this.#owner.kind === "refused") throw wrongSecret();
  }

  /** Before anything is held: what the owner may not see never comes into the hands of a handler. */
  #own(owner: Owner): void {
    this.#owner = owner;
    if (owner.kind !== "session") return;
    this.#access = accessOf(owner, this.#deps);
    this.#notifier = this.#createNotifier();
    this.#handlers = this.#createHandlers();
  }

  #onData(chunk: Buffer): void {
    if (this.#isLost) return;
    try {
      for (const frame of this.#reader.push(chunk)) {
        if (frame.kind === "json") void this.#answer(frame.value);
        else if (frame.kind === "input") this.#type(frame.input, undefined);
        else if (frame.kind === "numbered") this.#type(frame.input, frame.input);
      }
    } catch (error) {
      // After bytes that are no frame nothing later can be understood either, and it must not pile up.
      this.#isLost = true;
      this.#send(encodeJson({ error: toFaultBody(asFault(error)) }));
      this.#socket.destroySoon();
    }
  }

  /** What a client types at its place: the place knows the session and the generation. */
  #type(
    { id, attachment, input_id, bytes }: InputMessage,
    numbered: NumberedMessage | undefined,
  ): void {
    try {
      const place = this.#attachments.get(attachment);
      if (place === undefined)
        throw new Fault("invalid_request", `there is no attachment ${attachment} here`);
      checkTyped(bytes, input_id);
      const { session, generation } = place;
      const number = numbered && numberAt(place, numbered);
      session.input({ bytes, input_id, generation, numbered: number, eof: numbered?.eof });
      this.#sendSoon(encodeDone(id));
    } catch (error) {
      const fault = asFault(error);
      if (isUnexpected(error)) this.#deps.log.error("typing failed", { error });
      this.#send(encodeJson({ id, error: toFaultBody(fault) }));
    }
  }

  async #answer(value: unknown): Promise<void> {
    const envelope = Envelope.safeParse(value);
    if (!envelope.success) {
      this.#send(
        encodeJson({
          error: toFaultBody(new Fault("invalid_request", "a request needs id and method")),
        }),
      );
      return;
    }
    const { id, method, params } = envelope.data;
    this.#inFlight += 1;
    if (method === "host.upgrade") this.#upgradeId ??= id;
    try {
      const result = await this.#call(method, params ?? {});
      const answer = hasBytes(result) ? encodeBytes(id, result) : encodeJson({ id, result });
      if (method === "session.input") this.#sendSoon(answer);
      else this.#send(answer);
    } catch (error) {
      const fault = asFault(error);
      if (isUnexpected(error)) this.#deps.log.error("a request failed", { method, error });
      this.#send(encodeJson({ id, error: toFaultBody(fault) }));
    } finally {
      this.#inFlight -= 1;
      if (this.#upgradeId === id) this.#upgradeId = undefined;
    }
  }

  async #call(method: string, params: unknown): Promise<unknown> {
    if (!isMethod(method)) {
      throw new Fault("unsupported", `this host does not know ${method}; a newer one may`, {
        details: { method },
      });
    }
    if (method !== "connection.bind") this.#owner = admitOwner(this.#owner, this.#access);
    // The table gives each method the schema that its handler was typed with.
    const handler = this.#handlers[method] as (params: unknown) => unknown;
    return await handler(parseRequest(requests[method], params));
  }

  /**
   * That something was typed is no news to wake the other process for: mostly its echo follows at once and takes the
   * answer along.
   */
  #sendSoon(bytes: Buffer): void {
    this.#soon.push(bytes);
    this.#soonTimer ??= setTimeout(() => this.#sendLate(), SOON_MS);
  }

  /** The timer is left alone when something takes the answers along: to set one for each key costs more. */
  #sendLate(): void {
    this.#soonTimer = undefined;
    if (this.#soon.length > 0) this.#send(NO_BYTES);
  }

  #send(given: Buffer, sent?: () => void): void {
    const bytes = this.#soon.length === 0 ? given : Buffer.concat([...this.#soon, given]);
    if (this.#soon.length > 0) this.#soon = [];
    if (!this.#socket.writable) return;
    if (this.#socket.writableLength > UNREAD_BYTES) {
      this.#deps.log.warn("a client does not read and is cut off", {
        unread_bytes: this.#socket.writableLength,
      });
      this.#socket.destroy();
      return;
    }
    this.#socket.write(bytes, () => sent?.());
  }

  #onClose(): void {
    clearTimeout(this.#soonTimer);
    this.#notifier[Symbol.dispose]();
    for (const { session, viewer } of this.#attachments.values()) session.audience.detach(viewer);
    this.#attachments.clear();
  }
}

function numberAt({ name }: Attachment, { number }: NumberedMessage): InputNumber {
  if (name !== undefined) return { attachment: name, number };
  throw new Fault("invalid_request", "only inputs of an attachment with a name are numbered");
}

function checkTyped(bytes: Buffer, inputId = ""): void {
  if (bytes.length > limits.input_bytes)
    throw new Fault("payload_too_large", `at most ${limits.input_bytes} bytes are typed at once`);
  if (inputId.length > limits.input_id_chars)
    throw new Fault(
      "invalid_request",
      `input_id: an id of an input has at most ${limits.input_id_chars} characters`,
    );
}

function hasBytes(result: unknown): result is { readonly bytes: Uint8Array } {
  return Object(result).bytes instanceof Uint8Array;
}

function isMethod(method: string): method is HostMethod {
  return Object.hasOwn(requests, method);
}
