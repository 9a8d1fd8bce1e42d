import { Emitter } from "#base/emitter.ts";
import { asFault } from "#contract/fault.ts";
import type { ClientFrame, ServerFrame } from "#contract/frames.ts";
import { BINARY_V2, decodeAttachmentInput, decodeInput } from "#contract/terminal/input-frame.ts";
import type { Attachment, AttachmentPeer } from "./attachment.ts";
import { binaryEncoding } from "./output-frames.ts";
import type { OutputOutbox } from "./output-pump.ts";

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;
/** Browsers report it when there was no close frame. */
const ABNORMAL = 1006;

interface SocketEvent {
  readonly data: unknown;
  readonly code: number;
  readonly reason: string;
}
type Listener = (event: SocketEvent) => void;

/**
 * A WebSocket whose server is an attachment of this process, as far as the typed client uses one. It speaks `reins.bin.v2`, or
 * `reins.bin.v3` where the session numbers inputs, and nothing is copied on the way.
 */
export class InProcessSocket implements AttachmentPeer {
  binaryType: "blob" | "arraybuffer" = "arraybuffer";
  readyState = CONNECTING;
  readonly bufferedAmount = 0;
  readonly protocol = BINARY_V2;
  readonly encoding = binaryEncoding;
  readonly outbox: OutputOutbox;
  readonly #drained = new Emitter<void>(() => undefined);
  readonly #listeners = new Map<string, Listener[]>();
  #attachment: Attachment | undefined;
  #isPaused = false;

  constructor(open: (peer: AttachmentPeer) => Promise<Attachment>) {
    const isOpen = () => this.readyState === OPEN;
    const isFull = () => this.#isPaused;
    this.outbox = {
      get isOpen() {
        return isOpen();
      },
      get isFull() {
        return isFull();
      },
      drained: this.#drained,
      send: (data) => this.#emit("message", { data }),
    };
    void this.#start(open);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): void {
    if (typeof data === "string") {
      // Our own client's frame, made by the schema of the contract.
      void this.#attachment?.receive(JSON.parse(data) as ClientFrame);
      return;
    }
    const frame = new Uint8Array(data);
    if (this.#attachment?.isNumbered === true) {
      const input = decodeAttachmentInput(frame);
      if (input !== undefined) void this.#attachment.typeNumbered(input);
      return;
    }
    const input = decodeInput(frame);
    if (input !== undefined) void this.#attachment?.type(input);
  }

  /** The client stops reading, and with it the attachment stops sending. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#drained.emit();
  }

  say(frame: ServerFrame): void {
    if (this.readyState === OPEN) this.#emit("message", { data: JSON.stringify(frame) });
  }

  describe = asFault;

  /** Either side closes. */
  close(code = ABNORMAL, reason = ""): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#attachment?.[Symbol.dispose]();
    this.#emit("close", { code, reason });
  }

  async #start(open: (peer: AttachmentPeer) => Promise<Attachment>): Promise<void> {
    try {
      const attachment = await open(this);
      this.#attachment = attachment;
      if (this.readyState === CLOSED) {
        attachment[Symbol.dispose]();
        return;
      }
      this.readyState = OPEN;
      this.#emit("open", {});
      await attachment.start();
    } catch (error) {
      const { code, message } = asFault(error);
      this.readyState = OPEN;
      this.say({ type: "error", code, message });
      this.close();
    }
  }

  #emit(type: string, event: Partial<SocketEvent>): void {
    const whole = { data: undefined, code: 0, reason: "", ...event };
    for (const listener of this.#listeners.get(type) ?? []) listener(whole);
  }
}
