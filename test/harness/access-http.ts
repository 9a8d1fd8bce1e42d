import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { defined } from "#contract/values/defined.ts";

export interface PlainRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** Where it seems to come from: any 127.x.y.z. */
  readonly from?: string;
  readonly ca?: string;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A request on a connection of its own, with every header as it was given: `Host` and `Origin` too. */
export async function sendPlain(url: string, request: PlainRequest): Promise<PlainAnswer> {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = send(`${url}${request.path}`, {
    agent: false,
    method: request.method ?? "GET",
    headers: Object.fromEntries(
      Object.entries(request.headers ?? {}).map(([name, value]) => [
        name,
        typeof value === "string" ? value : [...value],
      ]),
    ),
    ...defined({ localAddress: request.from, ca: request.ca }),
  });
  sent.on("response", resolve);
  sent.on("error", reject);
  sent.end(request.body);
  const response = await promise;
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** Bytes on a connection of their own; all that comes back until the first answer is whole or the server hangs up. */
export async function talk(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  socket.on("connect", () => socket.write(bytes));
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (isWhole(text)) resolve();
  });
  socket.on("error", () => resolve());
  socket.on("close", () => resolve());
  await promise;
  socket.destroy();
  return text;
}

function isWhole(text: string): boolean {
  const [head = "", body] = text.split("\r\n\r\n", 2);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
  return body !== undefined && body.length >= length;
}
