import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly text: string;
}

const CONNECTIONS = 16;

/** Many requests over few connections. What streams is hung up on. */
export async function sendMany(
  url: string,
  count: number,
  {
    make,
    check,
  }: { make: () => FuzzRequest; check: (answer: FuzzAnswer, of: FuzzRequest) => void },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const { hostname, port } = new URL(url);
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const request = make();
      const { method, path, headers = {}, body } = request;
      const sent = httpRequest({ agent, host: hostname, port, method, path, headers });
      check(await answerTo(sent, body), request);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  } finally {
    agent.destroy();
  }
}

async function answerTo(
  sent: ReturnType<typeof httpRequest>,
  body: string | Buffer | undefined,
): Promise<FuzzAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sent.on("response", resolve);
  sent.on("error", reject);
  sent.end(body);
  const response = await promise;
  const status = response.statusCode ?? 0;
  if (response.headers["content-type"] === "text/event-stream") {
    sent.off("error", reject);
    sent.on("error", () => undefined);
    response.destroy();
    return { status, text: "" };
  }
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) text += chunk;
  return { status, text };
}

/** Bytes on a connection of its own, then our end; everything that comes back. */
export async function throwAt(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  socket.on("connect", () => socket.end(bytes));
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => resolve());
  socket.on("close", () => resolve());
  await promise;
  return text;
}
