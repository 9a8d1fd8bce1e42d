import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationInput, OperationName, OperationOutput } from "#contract/operations.ts";
import { operations } from "#contract/operations.ts";
import { type GatewayOptions, openGatewayDaemon } from "#daemon/gateway.ts";
import { openTestHost, type TestHost } from "./host.ts";
import { binPath } from "./packaged.ts";
import { openSocket, type SocketOptions, type TestSocket } from "./socket.ts";

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface Door {
  readonly url: string;
  /** Any request, with the door's token unless the headers say otherwise. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** An operation of the table, its answer parsed as JSON whatever the status. */
  call<N extends OperationName>(
    name: N,
    input: OperationInput<N>,
  ): Promise<Answer<OperationOutput<N> & { readonly error?: ErrorBody }>>;
  /** The same, and a refusal is thrown. */
  get<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>;
  attach(sessionId: string, query?: string, options?: SocketOptions): Promise<TestSocket>;
  socket(path: string, options?: SocketOptions): Promise<TestSocket>;
  /** The same server, with another token. */
  as(token: string | undefined): Door;
}

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: Record<string, unknown>;
  readonly request_id: string;
}

export interface TestGateway extends AsyncDisposable, Door {
  readonly host: TestHost;
  readonly token: string;
  /** A token that this test made. */
  mint(request: OperationInput<"token.create">): Promise<string>;
}

export interface TestGatewayOptions
  extends Partial<Pick<GatewayOptions, "flags" | "patience" | "env" | "command" | "pageFolder">> {
  /** The host of another gateway, for one more gateway over it; absent = a new host. */
  readonly host?: TestHost;
}

/** A gateway in this process over a real host in its own. */
export async function openTestGateway({
  host: given,
  ...options
}: TestGatewayOptions = {}): Promise<TestGateway> {
  await using stack = new AsyncDisposableStack();
  const host = given ?? stack.use(await openTestHost());
  const gateway = stack.use(
    await openGatewayDaemon({
      dataDir: host.dataDir,
      version: "test",
      command: [process.execPath, binPath],
      // A login shell in a test reads nobody's own files, some of which take locks.
      env: { ...process.env, HOME: host.dataDir },
      ...options,
      flags: { listen: "127.0.0.1:0", ...options.flags },
    }),
  );
  const token = readFileSync(join(host.dataDir, "token"), "utf8").trim();
  const door = openDoor(gateway.url, token);
  const owned = stack.move();
  return {
    ...door,
    host,
    token,
    mint: async (request) => (await door.get("token.create", request)).secret,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A server as a client sees it. */
export function openDoor(url: string, token: string | undefined): Door {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const request: Door["fetch"] = (path, init = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { ...authorization, ...(init.headers as Record<string, string> | undefined) },
    });
  const door: Door = {
    url,
    fetch: request,
    call: async (name, input) => {
      const { path, init } = describeRequest(name, input as Record<string, unknown>);
      const response = await request(path, init);
      const text = await response.text();
      // Typed by the table: a test that asks for more than is there fails.
      return { status: response.status, headers: response.headers, body: JSON.parse(text) };
    },
    get: async (name, input) => {
      const { status, body } = await door.call(name, input);
      if (body.error !== undefined)
        throw new Error(`${name}: ${status} ${body.error.code}: ${body.error.message}`);
      return body;
    },
    attach: (sessionId, query = "", options = {}) =>
      door.socket(`/v1/sessions/${sessionId}/ws${query}`, options),
    socket: (path, options = {}) =>
      openSocket(`${url.replace(/^http/, "ws")}${path}`, {
        ...options,
        headers: { ...authorization, ...options.headers },
      }),
    as: (other) => openDoor(url, other),
  };
  return door;
}

/** As a client of the HTTP API would: the path's names, then the query of a GET or DELETE, else a body. */
export function describeRequest(
  name: OperationName,
  input: Record<string, unknown>,
): { readonly path: string; readonly init: RequestInit } {
  const [method = "", route = ""] = operations[name].http.split(" ");
  const rest = { ...input };
  const path = route.replace(/:(\w+)/g, (_, field: string) => {
    const value = String(rest[field]);
    delete rest[field];
    return encodeURIComponent(value);
  });
  if (method !== "GET" && method !== "DELETE") {
    const headers = { "Content-Type": "application/json" };
    return { path, init: { method, headers, body: JSON.stringify(rest) } };
  }
  const query = new URLSearchParams(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]): [string, string] => [field, String(value)]),
  );
  return { path: query.size === 0 ? path : `${path}?${query}`, init: { method } };
}
