import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Who } from "#app/caller.ts";
import type { Logger } from "#base/logger.ts";
import { asFault, Fault, isUnexpected } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import { type AuthDeps, authorize, checkOriginAndHost, type Visit } from "#http/auth.ts";
import { describeFaultAt, isExecdRequest, noExecdRoute } from "#http/dialects/execd-faults.ts";
import type { OpenVisits } from "#http/open-visits.ts";
import type { OpenSocket, SocketPlan } from "#http/socket/socket-plan.ts";

/** A path that is a socket. */
export interface SocketRoute {
  readonly pattern: URLPattern;
  readonly role: OperationSpec["role"];
  plan(
    caller: Who,
    request: {
      readonly path: Readonly<Record<string, string>>;
      readonly query: URLSearchParams;
      /** The sub-protocols that the client offers. */
      readonly offered: readonly string[];
    },
  ): Promise<SocketPlan>;
}

interface UpgradeDeps extends AuthDeps {
  readonly log: Logger;
  readonly visits: OpenVisits;
  readonly routes: readonly SocketRoute[];
  readonly nextRequestId: () => string;
}

interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly caller: Who;
}

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = "13";
const STOP_RETRY_MS = 500;

/**
 * From a request for an upgrade to an open socket. What is refused is refused in the one shape of faults and before
 * the handshake; nothing is taken from anybody until the handshake is done.
 */
export class Upgrades {
  readonly #deps: UpgradeDeps;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frame_bytes,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered, request) =>
      this.#chosen.get(request)?.find((name) => offered.has(name)) ?? false,
  });
  readonly #chosen = new WeakMap<IncomingMessage, readonly string[]>();
  readonly #open = new Set<OpenSocket>();
  #isStopping = false;

  constructor(deps: UpgradeDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#open.size;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const requestId = this.#deps.nextRequestId();
    // For good: before ws has it and while a refusal is written, an error of the peer's that nobody hears ends us all.
    socket.on("error", () => socket.destroy());
    try {
      const { caller, plan } = await this.#plan(request);
      if (socket.destroyed) plan[Symbol.dispose]();
      else this.#shake({ request, socket, head, caller }, plan);
    } catch (error) {
      const fault = asFault(error);
      if (isUnexpected(error))
        this.#deps.log.error("an upgrade failed", { request_id: requestId, error });
      refuse(socket, fault, { requestId, url: request.url, header: headerOf(request) });
    }
  }

  /** Every client hears that it may come back, then is closed. */
  stop(): void {
    this.#isStopping = true;
    for (const socket of this.#open) socket.stop("shutting_down", STOP_RETRY_MS);
  }

  /** Those that did not go by themselves. */
  terminate(): void {
    for (const socket of this.#open) socket.terminate();
  }

  async #plan(request: IncomingMessage): Promise<{ caller: Who; plan: SocketPlan }> {
    if (this.#isStopping) throw stopping();
    const { routes } = this.#deps;
    const visit = this.#visit(request);
    checkOriginAndHost(this.#deps, visit);
    checkHandshake(request);
    const url = visit.url.href;
    const route = routes.find(({ pattern }) => pattern.test(url));
    if (route === undefined) throw noSocket(visit);
    const caller = authorize(this.#deps, visit, route);
    if (this.#open.size >= limits.connections)
      throw new Fault("too_many", "the server has as many sockets as it may");
    const groups = route.pattern.exec(url)?.pathname.groups ?? {};
    const path = Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, value ?? ""]),
    );
    const plan = await route.plan(caller, {
      ...{ path, query: visit.url.searchParams, offered: offeredBy(visit) },
    });
    if (!this.#isStopping) return { caller, plan };
    // The others were told while this one was planned.
    plan[Symbol.dispose]();
    throw stopping();
  }

  #shake({ request, socket, head, caller }: Handshake, plan: SocketPlan): void {
    this.#chosen.set(request, plan.protocols);
    let isDone = false;
    this.#server.handleUpgrade(request, socket, head, (opened: WebSocket) => {
      isDone = true;
      const visit = this.#deps.visits.enter(caller, ({ message }) =>
        open.expel(closeCodes.unauthenticated, message),
      );
      const open = plan.open({ socket: opened, protocol: opened.protocol, visit });
      this.#open.add(open);
      opened.on("close", () => {
        this.#open.delete(open);
        visit[Symbol.dispose]();
      });
    });
    if (!isDone) plan[Symbol.dispose]();
  }

  #visit(request: IncomingMessage): Visit {
    return {
      method: request.method ?? "GET",
      header: headerOf(request),
      url: urlOf(request),
      address: request.socket.remoteAddress ?? "unknown",
    };
  }
}

function offeredBy({ header }: Visit): string[] {
  return (header("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
}

function headerOf({ headers }: IncomingMessage): Visit["header"] {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
}

function noSocket({ method, url: { pathname: path }, header }: Visit): Fault {
  if (isExecdRequest({ path, header })) return noExecdRoute(method, path);
  return new Fault("invalid_request", `there is no WebSocket at ${path}`);
}

/** Only the path and the query matter; which host was named, the door has checked. */
function urlOf({ url = "/" }: IncomingMessage): URL {
  const parsed = URL.parse(url, "http://localhost");
  if (parsed !== null) return parsed;
  throw new Fault("invalid_request", "the address cannot be read");
}

function stopping(): Fault {
  return new Fault("shutting_down", "the server is stopping; try again");
}

/** As ws would, but in our own words. */
function checkHandshake({ method, headers }: IncomingMessage): void {
  const isRight =
    method === "GET" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    KEY.test(headers["sec-websocket-key"] ?? "") &&
    headers["sec-websocket-version"] === VERSION;
  if (isRight) return;
  throw new Fault("invalid_request", "this is no handshake for a WebSocket of version 13");
}

interface RefusedRequest {
  readonly requestId: string;
  /** Absent when it could not be read. */
  readonly url?: string | undefined;
  readonly header?: Visit["header"];
}

/** In the shape of the API that was asked. */
export function refuse(
  socket: Duplex,
  fault: Fault,
  { requestId, url = "/", header = () => undefined }: RefusedRequest,
): void {
  const path = URL.parse(url, "http://localhost")?.pathname ?? "/";
  const { status, headers, body } = describeFaultAt({ path, header }, fault, requestId);
  const lines = [
    `HTTP/1.1 ${status} ${fault.code}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  // Not only our half: nobody else would ever close it for a peer that keeps its own open.
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
