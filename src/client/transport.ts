import { type Pacing, type Pause, pause } from "#client/transport/backoff.ts";
import { noAnswer, readRefusal } from "#client/transport/refusal.ts";
import { routes } from "#client/transport/routes.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationName } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";

/** How a server closes a socket whose token has ended. */
const UNAUTHENTICATED_CLOSE = 4401;

export interface ClientOptions {
  /** Of the server, with the path below which it lies when a proxy puts it there. */
  readonly url: string;
  /** Not in a page: a page has a cookie. */
  readonly token?: string | undefined;
  /** A page of the server itself: its cookie is sent, and the header that shows that a page of ours asks. */
  readonly page?: boolean | undefined;
  /** Called whenever the server refuses a request, a stream or a socket because the caller is not signed in any more. */
  readonly onUnauthenticated?: (() => void) | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly WebSocket?: SocketClass | undefined;
  /** Overrides for tests. */
  readonly random?: (() => number) | undefined;
  readonly pause?: Pause | undefined;
}

/** As much of a WebSocket as is used here; the one of browsers and the one of Node both are it. */
export interface SocketLike {
  binaryType: "blob" | "arraybuffer";
  readonly readyState: number;
  readonly bufferedAmount: number;
  /** The sub-protocol that the server chose, once it is open; empty without one. */
  readonly protocol: string;
  send(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  /** Where the socket has it: no more messages until `resume`. A browser's has not. */
  pause?(): void;
  resume?(): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

export type SocketClass = new (url: string, protocols?: string[]) => SocketLike;

export interface Asking {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The way to one server. */
export interface Transport extends Pacing {
  /** An answer that is no refusal; everything else is thrown as a Fault, or as the signal's reason. */
  request(name: OperationName, input: object, asking?: Asking): Promise<Response>;
  /** Tells the client's owner about a refusal that no further attempt changes. */
  noteFault(fault: Fault): void;
  /** Throws when it cannot even be tried. */
  socket(name: OperationName, input: object, protocols: string[]): SocketLike;
}

export function createTransport(options: ClientOptions): Transport {
  const { token, page = false, random = Math.random } = options;
  const base = parseBase(options.url);
  const authorization = token === undefined || page ? {} : { Authorization: `Bearer ${token}` };
  const fixed = page ? { "X-Reins-Page": "1" } : authorization;
  // Called as a plain function: a browser's fetch refuses to be somebody's method.
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const noteFault = ({ code }: Fault) => {
    if (code === "unauthenticated") options.onUnauthenticated?.();
  };
  return {
    random,
    pause: options.pause ?? pause,
    noteFault,
    request: async (name, input, { signal, headers } = {}) => {
      const { method, path, body } = describeRequest(name, input);
      const url = `${base}${path}`;
      const response = await send(url, {
        method,
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
          ...fixed,
        },
        redirect: "manual",
        credentials: page ? "same-origin" : "omit",
        ...defined({ body, signal }),
      }).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw noAnswer(url, error);
      });
      if (response.ok) return response;
      const fault = await readRefusal(response);
      noteFault(fault);
      throw fault;
    },
    socket: (name, input, protocols) => {
      const { path } = describeRequest(name, input);
      const url = `${base.replace(/^http/, "ws")}${path}`;
      const init = { protocols, headers: authorization };
      const socket = openSocket(options.WebSocket ?? WebSocket, url, init);
      socket.addEventListener("close", ({ code }) => {
        if (code === UNAUTHENTICATED_CLOSE) options.onUnauthenticated?.();
      });
      return socket;
    },
  };
}

export interface DescribedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** The names in the path, then the query of a GET or a DELETE, else a body. */
export function describeRequest(name: OperationName, input: object): DescribedRequest {
  const [method = "", route = ""] = routes[name].split(" ");
  const rest: Record<string, unknown> = { ...input };
  const path = route.replace(/:(\w+)/g, (_, field: string) => {
    const segment = toSegment(field, rest[field]);
    delete rest[field];
    return segment;
  });
  if (method !== "GET" && method !== "DELETE") return { method, path, body: JSON.stringify(rest) };
  const query = new URLSearchParams(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]): [string, string] => [field, String(value)]),
  );
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}

/** A dot or two would be a way to another route. */
function toSegment(field: string, value: unknown): string {
  if (typeof value === "string" && !["", ".", ".."].includes(value))
    return encodeURIComponent(value);
  throw new Fault("invalid_request", `${field}: ${JSON.stringify(value)} names nothing`, {
    details: { field },
  });
}

function parseBase(url: string): string {
  const parsed = URL.parse(url);
  if (parsed !== null && /^https?:$/.test(parsed.protocol))
    return `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}`;
  throw new Fault(
    "invalid_request",
    `url: ${JSON.stringify(url)} does not look like http://127.0.0.1:7346`,
  );
}

function openSocket(
  Socket: SocketClass,
  url: string,
  init: { readonly protocols: string[]; readonly headers: Readonly<Record<string, string>> },
): SocketLike {
  if (Object.keys(init.headers).length === 0) return new Socket(url, init.protocols);
  try {
    // Node's takes headers in the same place; no type that browsers share says so.
    return new Socket(url, init as unknown as string[]);
  } catch (error) {
    throw new Fault(
      "unsupported",
      "a browser's WebSocket sends no token; use page: true and its cookie",
      {
        cause: error,
      },
    );
  }
}
