import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { createTestMcpServer } from "./mcp-server.ts";

export interface HttpMcpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Of the requests so far. */
  readonly authorizations: readonly (string | null)[];
  /** How many clients it knows. */
  sessions(): number;
  /** As a server does that was restarted. */
  forget(): void;
  /** Cuts every connection. */
  cut(): void;
}

const SESSION = "mcp-session-id";

/** A server over streamable HTTP on the loopback, with sessions; only for who has the token. */
export async function openHttpMcpServer(token: string, port = 0): Promise<HttpMcpServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const authorizations: (string | null)[] = [];
  const answer = async (request: Request): Promise<Response> => {
    const authorization = request.headers.get("authorization");
    authorizations.push(authorization);
    if (authorization !== `Bearer ${token}`)
      return new Response(`not with ${authorization}`, { status: 401 });
    const known = request.headers.get(SESSION);
    if (known !== null)
      return (
        (await sessions.get(known)?.handleRequest(request)) ?? new Response("", { status: 404 })
      );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createTestMcpServer().connect(transport);
    return await transport.handleRequest(request);
  };
  const listener: (request: IncomingMessage, response: ServerResponse) => unknown =
    getRequestListener(answer);
  const server = createServer((request, response) => void listener(request, response));
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(port, "127.0.0.1", resolve);
  await listening;
  // A TCP server has an address of this kind.
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/mcp?key=in-the-url`,
    port: address.port,
    authorizations,
    sessions: () => sessions.size,
    forget: () => sessions.clear(),
    cut: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      server.close(() => close());
      server.closeAllConnections();
      await closed;
    },
  };
}
