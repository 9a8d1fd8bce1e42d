import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** What a provider's server answers to one request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one after the other, each as soon as it can be. */
  readonly body?: readonly (string | Uint8Array)[];
  /** Afterwards: a proper end, a broken connection, or nothing more at all. */
  readonly after?: "end" | "cut" | "hang";
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the provider's own format.
  readonly body: any;
  /** The client went before the answer had ended. */
  isAborted: boolean;
}

export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
}

/** A real HTTP server that plays replies in order; the last one again and again. */
export async function openProviderServer(
  ...replies: readonly [Reply, ...Reply[]]
): Promise<ProviderServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const seen = { path: request.url ?? "", headers: request.headers, body, isAborted: false };
      response.on("close", () => {
        seen.isAborted = !response.writableFinished;
      });
      const reply = replies[Math.min(requests.length, replies.length - 1)];
      requests.push(seen);
      if (reply !== undefined) answer(response, reply);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a port has no other kind of address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function read(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString() || "null");
}

function answer(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status ?? 200, {
    "content-type": "text/event-stream",
    ...reply.headers,
  });
  for (const piece of reply.body ?? []) response.write(piece);
  const after = reply.after ?? "end";
  if (after === "end") response.end();
  // What was written is on its way before the connection breaks.
  if (after === "cut") setImmediate(() => setImmediate(() => response.destroy()));
}
