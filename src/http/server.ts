import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Gateway } from "#app/gateway.ts";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errno.ts";
import type { Logger } from "#base/logger.ts";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { createRoutes } from "#http/server/routes.ts";
import { createSocketRoutes } from "#http/server/socket-routes.ts";
import { refuse, Upgrades } from "#http/server/upgrades.ts";
import { FailedLogins } from "./failed-logins.ts";
import { faultResponse } from "./fault-response.ts";
import type { AnswerMcp } from "./mcp.ts";
import { RequestCounts } from "./metrics.ts";
import { OpenVisits } from "./open-visits.ts";
import { createOrigins } from "./origins.ts";
import type { Page } from "./page/page.ts";
import type { OutboxDeps } from "./socket/outbox.ts";

/** How long a server waits for its peers. */
interface Patience extends Pick<OutboxDeps, "slowMs" | "pingMs" | "deadPeerMs"> {
  /** Between two looks at the tokens of what is open. */
  readonly revocationCheckMs?: number;
  /** Until a request is there as a whole. */
  readonly requestMs?: number;
}

export interface HttpServerOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hostname: string;
  /** 0 picks one. */
  readonly port: number;
  /** A unix socket instead of hostname and port; whoever may open it stands before the same door. */
  readonly socketPath?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  /** Answers MCP; absent = not served. */
  readonly mcp?: AnswerMcp | undefined;
  /** The web page; absent = not served. */
  readonly page?: Page | undefined;
  /** Overrides for tests. */
  readonly patience?: Patience;
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** How long open requests have after the stop. */
const STOP_MS = 2000;
/**
 * Beyond what clients are told, an idle connection stays open for so long: one that asks in the last moment, on a busy
 * machine a little late, must not find it closed.
 */
const KEEP_ALIVE_SPARE_MS = 10_000;

/** Listens; disposing tells every client that it may come back, and waits for them to go. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { tls, hostname, socketPath } = options;
  const reading = describeReading(options.patience?.requestMs ?? limits.request_ms);
  const server: Server =
    tls === undefined ? createServer(reading) : createTlsServer({ ...reading, ...tls });
  server.maxConnections = limits.connections;
  const port = await listen(server, options);
  const stopping = new AbortController();
  const visits = openVisits(options);
  const upgrades = serve(server, { ...options, port }, { visits, stopping: stopping.signal });
  const scheme = tls === undefined ? "http" : "https";
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: socketPath === undefined ? `${scheme}://${name}:${port}` : `unix:${socketPath}`,
    port,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      upgrades.stop();
      // Whoever waits for an answer is told the truth, so that he asks again.
      stopping.abort(new Fault("shutting_down", "the server is stopping; try again"));
      server.closeIdleConnections();
      using _limit = options.clock.timer(STOP_MS, () => {
        upgrades.terminate();
        server.closeAllConnections();
      });
      await closed;
      visits[Symbol.dispose]();
    },
  };
}

/** A request that does not arrive is given up, its headers sooner than its body. */
function describeReading(requestMs: number) {
  return {
    requestTimeout: requestMs,
    headersTimeout: requestMs / 2,
    keepAliveTimeoutBuffer: KEEP_ALIVE_SPARE_MS,
    connectionsCheckingInterval: requestMs / 4,
    // The door says so itself, in the one shape of refusals.
    requireHostHeader: false,
  };
}

function openVisits({ gateway, clock, log, patience }: HttpServerOptions): OpenVisits {
  return new OpenVisits({ gateway, clock, log, checkMs: patience?.revocationCheckMs });
}

interface Serving {
  readonly visits: OpenVisits;
  readonly stopping: AbortSignal;
}

function serve(server: Server, options: HttpServerOptions, serving: Serving): Upgrades {
  const { gateway, clock, log, hostname, port, publicUrl, tls, patience, mcp, page } = options;
  const isTls = tls !== undefined;
  const counts = new RequestCounts();
  const nextRequestId = () => randomId("req");
  const door = {
    gateway,
    origins: createOrigins({ hostname, port, isTls, publicUrl }),
    failedLogins: new FailedLogins(clock),
  };
  const routes = createRoutes({
    ...door,
    ...serving,
    clock,
    log,
    counts,
    isSecure: isTls || publicUrl?.startsWith("https:") === true,
    nextRequestId,
    mcp,
    page,
  });
  const onError = (error: unknown) => log.error("a socket failed", { error });
  const outbox = { clock, counts, onError, ...patience };
  const upgrades = new Upgrades({
    ...door,
    log,
    visits: serving.visits,
    routes: createSocketRoutes({ gateway, outbox, onError }),
    nextRequestId,
  });
  const onRequest = getRequestListener(
    (request, env) =>
      routes.fetch(request, {
        address: addressOf(env.incoming as IncomingMessage),
        onSent: (sent) => {
          // Whoever has left before there was an answer has closed it already.
          if (env.outgoing.closed) sent();
          else env.outgoing.once("close", sent);
        },
      }),
    { errorHandler: (error) => faultResponse(badRequest(error), nextRequestId()) },
  );
  const answers = new WeakMap<Duplex, ServerResponse>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request.socket, response);
    void onRequest(request, response);
  };
  server.on("request", answer);
  // An `Expect` that we do not know is none of our business.
  server.on("checkExpectation", answer);
  server.on("upgrade", (request, socket, head) => void upgrades.upgrade(request, socket, head));
  server.on("clientError", (error, socket) => {
    // In the middle of an answer a second one would be read as a part of it.
    if (answers.get(socket)?.headersSent === true) socket.destroy();
    else refuseClient(error, socket, nextRequestId());
  });
  return upgrades;
}

type Where = Pick<HttpServerOptions, "hostname" | "port" | "socketPath">;

async function listen(server: Server, { hostname, port, socketPath }: Where): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  if (socketPath === undefined) server.listen(port, hostname, resolve);
  else server.listen(socketPath, resolve);
  try {
    await promise;
  } catch (error) {
    throw cannotListen(error, socketPath ?? `${hostname}:${port}`);
  }
  server.off("error", reject);
  if (socketPath !== undefined) return port;
  // A TCP server that listens has an address of this form.
  return (server.address() as AddressInfo).port;
}

function cannotListen(error: unknown, where: string): Fault {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "something else listens there; --listen takes another port, 0 picks a free one",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "this user may not listen there; ports below 1024 are often root's",
    ENOTFOUND: "there is no host of this name",
  };
  const why = reasons[errnoOf(error) ?? ""] ?? String(error);
  return new Fault("conflict", `cannot listen on ${where}: ${why}`, { cause: error });
}

function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}

function badRequest(error: unknown): Fault {
  const why = error instanceof Error ? error.message : "it could not be read";
  return new Fault("invalid_request", `this is no request that can be answered: ${why}`);
}

/**
 * Bytes that are no HTTP. A connection without any byte has made no request: clients open such spare ones, and would take
 * an answer to it for the answer to the request that they send next.
 */
function refuseClient(error: Error, socket: Duplex, requestId: string): void {
  const isUnused = "bytesRead" in socket && socket.bytesRead === 0;
  if (isUnused || errnoOf(error) === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  refuse(socket, badRequest(error), { requestId });
}
