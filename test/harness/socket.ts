import { WebSocket } from "ws";
import { waitFor } from "./eventually.ts";

export interface SocketOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

export type Frame = { readonly type: string } & Record<string, unknown>;

/** A refusal before the upgrade. */
export class Refused extends Error {
  readonly status: number;
  readonly body: { readonly error?: { readonly code: string; readonly message: string } };

  constructor(status: number, text: string) {
    super(`the upgrade was refused: ${status} ${text}`);
    this.status = status;
    this.body = JSON.parse(text);
  }
}

/** A client's end of a socket, which remembers every frame. */
export class TestSocket implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  /** What arrived as binary frames, decoded. */
  readonly binary: { readonly channel: number; readonly offset: number; readonly bytes: Buffer }[] =
    [];
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) this.frames.push(JSON.parse(data.toString("utf8")));
      else {
        const offset = Number(data.readBigUInt64BE(1));
        this.binary.push({ channel: data[0] ?? 0, offset, bytes: data.subarray(9) });
      }
    });
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString("utf8") };
    });
    socket.on("error", () => undefined);
  }

  send(frame: object | string | Buffer): void {
    const isRaw = typeof frame === "string" || Buffer.isBuffer(frame);
    this.socket.send(isRaw ? frame : JSON.stringify(frame));
  }

  all(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  /** The first frame of a type that matches, when it comes. */
  async frame(type: string, matches: (frame: Frame) => boolean = () => true): Promise<Frame> {
    const find = () => this.frames.find((frame) => frame.type === type && matches(frame));
    return await waitFor(`a frame ${type}`, () => find());
  }

  /** Sends with an id and gives what it is answered with: ack or error. */
  async ask(frame: Frame & { readonly id: string }): Promise<Frame> {
    this.send(frame);
    return await waitFor(`an answer to ${frame.id}`, () =>
      this.frames.find(
        ({ type, id }) => ["ack", "error", "pong"].includes(type) && id === frame.id,
      ),
    );
  }

  /** All output so far, in order, as bytes. */
  output(channel?: "stdout" | "stderr"): Buffer {
    const text = this.frames
      .filter(
        ({ type }) =>
          type === channel || (channel === undefined && (type === "stdout" || type === "stderr")),
      )
      .map(({ data, encoding }) =>
        Buffer.from(String(data), encoding === "base64" ? "base64" : "utf8"),
      );
    return Buffer.concat([...text, ...this.binary.map(({ bytes }) => bytes)]);
  }

  async printed(text: string): Promise<void> {
    await waitFor(`output ${JSON.stringify(text)}`, () => this.output().includes(text));
  }

  async ended(): Promise<{ readonly code: number; readonly reason: string }> {
    return await waitFor("the end of the socket", () => this.closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed !== undefined) return;
    this.socket.terminate();
    await this.ended();
  }
}

export async function openSocket(url: string, options: SocketOptions = {}): Promise<TestSocket> {
  const socket = new WebSocket(url, [...(options.protocols ?? [])], {
    headers: { ...options.headers },
  });
  const opened = new TestSocket(socket);
  const { promise, resolve, reject } = Promise.withResolvers<TestSocket>();
  socket.on("open", () => resolve(opened));
  socket.on("unexpected-response", (_request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      reject(new Refused(response.statusCode ?? 0, text));
    })();
  });
  socket.once("error", reject);
  return await promise;
}

/** The refusal of an upgrade that must not succeed. */
export async function refusalOf(opening: Promise<TestSocket>): Promise<Refused> {
  try {
    await (await opening)[Symbol.asyncDispose]();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
  throw new Error("the upgrade was not refused");
}
