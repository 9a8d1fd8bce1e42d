import type { SocketClass, SocketLike } from "#client/transport.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { decodeInput, type NumberedInput } from "#contract/terminal/input-frame.ts";

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

type Listener = (event: {
  readonly code: number;
  readonly reason: string;
  readonly data: unknown;
}) => void;

/** A WebSocket whose server is the test. */
export class FakeSocket implements SocketLike {
  binaryType: "blob" | "arraybuffer" = "blob";
  readyState = CONNECTING;
  bufferedAmount = 0;
  /** What the server chose of the protocols; the test says. */
  protocol = "";
  readonly url: URL;
  readonly protocols: unknown;
  readonly sent: (Record<string, unknown> & { readonly type: string; readonly id: string })[] = [];
  /** Binary frames, which are not in `sent`. */
  readonly inputs: NumberedInput[] = [];
  readonly #listeners = new Map<string, Listener[]>();

  constructor(url: string, protocols?: unknown) {
    this.url = new URL(url);
    this.protocols = protocols;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): void {
    const input = typeof data === "string" ? undefined : decodeInput(new Uint8Array(data));
    if (input !== undefined) this.inputs.push(input);
    else this.sent.push(JSON.parse(String(data)));
  }

  /** As a peer that agrees at once. */
  close(code = 1005): void {
    this.end(code);
  }

  open(): void {
    this.readyState = OPEN;
    this.#emit("open", {});
  }

  say(frame: ServerFrame | { readonly type: string; readonly payload: object }): void {
    this.#emit("message", { data: JSON.stringify(frame) });
  }

  sayRaw(data: unknown): void {
    this.#emit("message", { data });
  }

  /** A binary frame of stdout. */
  print(offset: number, text: string): void {
    const bytes = new TextEncoder().encode(text);
    const frame = new Uint8Array(bytes.length + 9);
    new DataView(frame.buffer).setUint8(0, 1);
    new DataView(frame.buffer).setBigUint64(1, BigInt(offset));
    frame.set(bytes, 9);
    this.sayRaw(frame.buffer);
  }

  end(code: number, reason = ""): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#emit("close", { code, reason });
  }

  #emit(type: string, event: object): void {
    const whole = { code: 0, reason: "", data: undefined, ...event };
    for (const listener of this.#listeners.get(type) ?? []) listener(whole);
  }
}

/** Keeps every socket that was opened, in order. */
export function createFakeSockets(): {
  readonly WebSocket: SocketClass;
  readonly opened: FakeSocket[];
} {
  const opened: FakeSocket[] = [];
  return {
    opened,
    WebSocket: class extends FakeSocket {
      constructor(url: string, protocols?: unknown) {
        super(url, protocols);
        opened.push(this);
      }
    },
  };
}
