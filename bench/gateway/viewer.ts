import { once } from "node:events";
import { WebSocket } from "ws";
import { BINARY_V2, encodeInput } from "#contract/terminal/input-frame.ts";

/** How output comes: as it is from the bare server, in frames of bytes or of text from Reins. */
export type Wire = "bare" | "binary" | "text";

export interface ViewerOptions {
  readonly wire: Wire;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client that counts. The same one for both sides of a ratio. */
export interface Viewer extends Disposable {
  /** The offset behind the last byte that came. */
  readonly received: number;
  /** Resolves with the time at which so many had come. */
  until(offset: number): Promise<number>;
  type(text: string): void;
}

const HEADER_BYTES = 9;
/** No frame of text holds more. */
const TEXT_FRAME_BYTES = 64 * 1024;
/** Nothing has come for so long, though something was waited for: it never will. */
const STALL_MS = 20_000;
/** As far as the data in a frame of text. */
const HEAD_CHARS = 64;

export async function openViewer(url: string, options: ViewerOptions): Promise<Viewer> {
  const { wire, headers = {} } = options;
  const socket = new WebSocket(url, wire === "binary" ? [BINARY_V2] : [], {
    headers,
    perMessageDeflate: false,
    maxPayload: 0,
  });
  const viewer = new CountingViewer(socket, wire);
  await once(socket, "open");
  return viewer;
}

class CountingViewer implements Viewer {
  readonly #socket: WebSocket;
  readonly #wire: Wire;
  #received = 0;
  #inputs = 0;
  #target = Number.POSITIVE_INFINITY;
  #reached = Promise.withResolvers<number>();
  readonly #stall: NodeJS.Timeout;

  constructor(socket: WebSocket, wire: Wire) {
    this.#socket = socket;
    this.#wire = wire;
    let seen = 0;
    this.#stall = setInterval(() => {
      if (seen === this.#received && seen < this.#target)
        this.#fail(`${seen} bytes came, then nothing; ${this.#target} are waited for`);
      seen = this.#received;
    }, STALL_MS);
    // ws gives one buffer a message unless it is told otherwise.
    socket.on("message", (data, isBinary) => this.#count(data as Buffer, isBinary));
    socket.on("close", (code) => this.#fail(`the socket was closed with ${code}`));
    socket.on("error", (error) => this.#fail(String(error)));
  }

  get received(): number {
    return this.#received;
  }

  until(offset: number): Promise<number> {
    this.#target = offset;
    this.#reached = Promise.withResolvers();
    if (this.#received >= offset) this.#reached.resolve(performance.now());
    return this.#reached.promise;
  }

  type(text: string): void {
    if (this.#wire === "bare") this.#socket.send(text);
    else if (this.#wire === "text")
      this.#socket.send(JSON.stringify({ type: "stdin", data: text }));
    else this.#socket.send(this.#number(Buffer.from(text)));
  }

  /** As the typed client sends what is typed. */
  #number(bytes: Buffer): Uint8Array {
    this.#inputs += 1;
    const numbered = { sequence: this.#inputs, id: `key_${this.#inputs}`, bytes };
    return encodeInput(numbered) ?? bytes;
  }

  [Symbol.dispose](): void {
    this.#reached.promise.catch(() => undefined);
    clearInterval(this.#stall);
    this.#socket.terminate();
  }

  #count(bytes: Buffer, isBinary: boolean): void {
    if (this.#wire === "bare") this.#received += bytes.length;
    else if (isBinary) this.#countBinary(bytes);
    else this.#countText(bytes);
    if (this.#received >= this.#target) this.#reached.resolve(performance.now());
  }

  #countBinary(frame: Buffer): void {
    const offset = Number(frame.readBigUInt64BE(1));
    if (offset !== this.#received && this.#received !== 0)
      this.#fail(`${offset} follows ${this.#received}`);
    this.#received = offset + frame.length - HEADER_BYTES;
  }

  /** Only the last frames are parsed: what a client does with a text is not what is measured. */
  #countText(frame: Buffer): void {
    const head = frame.toString("latin1", 0, HEAD_CHARS);
    const offset = Number(/^\{"type":"stdout","offset":(\d+),/.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(offset)) return;
    if (offset < this.#target - TEXT_FRAME_BYTES) this.#received = offset;
    else this.#received = offset + Buffer.byteLength(JSON.parse(frame.toString()).data);
  }

  #fail(why: string): void {
    this.#reached.promise.catch(() => undefined);
    this.#reached.reject(new Error(why));
  }
}
