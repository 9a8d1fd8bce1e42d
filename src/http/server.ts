import { createServer, type IncomingMessage, type Server } from "node:http";
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
import { FailedLogins } from "./failed-logins.ts";
import { faultResponse } from "./fault-response.ts";
import { RequestCounts } from "./metrics.ts";
import { createOrigins } from "./origins.ts";
import { createRoutes } from "./routes.ts";
import type { OutboxDeps } from "./socket/outbox.ts";
import { createSocketRoutes } from "./socket/socket-routes.ts";
import { refuse, Upgrades } from "./socket/upgrades.ts";

export interface HttpServerOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hostname: string;
  /** 0 picks one. */
  readonly port: number;
  readonly publicUrl?: string | undefined;
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  /** Overrides for tests. */
  readonly patience?: Pick<OutboxDeps, "slowMs" | "pingMs" | "deadPeerMs">;
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** How long open requests have after the stop. */
const STOP_MS = 2000;

/** Listens; disposing tells every client that it may come back, and waits for them to go. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { tls, hostname } = options;
  const server: Server = tls === undefined ? createServer() : createTlsServer({ ...tls });
  server.maxConnections = limits.connections;
  const port = await listen(server, hostname, options.port);
  const stopping = new AbortController();
  const upgrades = serve(server, { ...options, port }, stopping.signal);
  const scheme = tls === undefined ? "http" : "https";
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `${scheme}://${name}:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      upgrades.stop();
      stopping.abort();
      server.closeIdleConnections();
      using _limit = options.clock.timer(STOP_MS, () => {
        upgrades.terminate();
        server.closeAllConnections();
      });
      await closed;
    },
  };
}

function serve(server: Server, options: HttpServerOptions, stopping: AbortSignal): Upgrades {
  const { gateway, clock, log, hostname, port, publicUrl, tls, patience } = options;
  const isTls = tls !== undefined;
  const counts = new RequestCounts();
  const nextRequestId = () => randomId("req");
  const door = {
    gateway,
    origins: createOrigins({ hostname, port, isTls, publicUrl }),
    failedLogins: new FailedLogins(clock),
  };
  const routes = createRoutes({ ...door, clock, log, counts, isTls, stopping, nextRequestId });
  const onError = (error: unknown) => log.error("a socket failed", { error });
  const outbox = { clock, counts, onError, ...patience };
  const upgrades = new Upgrades({
    ...door,
    log,
    routes: createSocketRoutes({ gateway, outbox, onError }),
    nextRequestId,
  });
  const onRequest = getRequestListener(
    (request, env) =>
      routes.fetch(request, { address: addressOf(env.incoming as IncomingMessage) }),
    { errorHandler: (error) => faultResponse(badRequest(error), nextRequestId()) },
  );
  server.on("request", (request, response) => void onRequest(request, response));
  server.on("upgrade", (request, socket, head) => void upgrades.upgrade(request, socket, head));
  server.on("clientError", (error, socket) => refuseClient(error, socket, nextRequestId()));
  return upgrades;
}

async function listen(server: Server, hostname: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, hostname, resolve);
  try {
    await promise;
  } catch (error) {
    throw cannotListen(error, hostname, port);
  }
  server.off("error", reject);
  // A TCP server that listens has an address of this form.
  return (server.address() as AddressInfo).port;
}

function cannotListen(error: unknown, hostname: string, port: number): Fault {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "something else listens there; --listen takes another port, 0 picks a free one",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "this user may not listen there; ports below 1024 are often root's",
    ENOTFOUND: "there is no host of this name",
  };
  const why = reasons[errnoOf(error) ?? ""] ?? String(error);
  return new Fault("conflict", `cannot listen on ${hostname}:${port}: ${why}`, { cause: error });
}

function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}

function badRequest(error: unknown): Fault {
  const why = error instanceof Error ? error.message : "it could not be read";
  return new Fault("invalid_request", `this is no request that can be answered: ${why}`);
}

/** Bytes that are no HTTP. */
function refuseClient(error: Error, socket: Duplex, requestId: string): void {
  if (errnoOf(error) === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  refuse(socket, badRequest(error), requestId);
}
