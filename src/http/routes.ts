import { type Context, Hono } from "hono";
import type { Gateway } from "#app/gateway.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { SessionId, ShellId, TaskId, TokenId, WorkspaceId } from "#contract/ids.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { type OperationName, operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { toResponse } from "./answers.ts";
import { admit, checkPlace, type DoorDeps, identify, type Visit } from "./door.ts";
import { faultResponse } from "./fault-response.ts";
import { findHandler } from "./handlers.ts";
import type { RequestCounts } from "./metrics.ts";
import { mergeInput, parseBody, readBody } from "./request-input.ts";

export interface RouteDeps extends DoorDeps {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts: RequestCounts;
  readonly isTls: boolean;
  /** Aborted when the server stops: streams end with it. */
  readonly stopping: AbortSignal;
  readonly nextRequestId: () => string;
}

interface Variables {
  request_id: string;
  user_id: string | undefined;
  operation: string | undefined;
}

/** `address` is the peer's, given by the server with each request. */
export type RouteEnv = { Bindings: { readonly address: string }; Variables: Variables };

const BODY_METHODS = ["POST", "PATCH", "PUT", "DELETE"];

/** An id in a path that cannot be one belongs to nothing, so nothing is found there. */
const pathIds = {
  session_id: [SessionId, "session_not_found"],
  task_id: [TaskId, "task_not_found"],
  workspace_id: [WorkspaceId, "workspace_not_found"],
  shell_id: [ShellId, "shell_not_found"],
  token_id: [TokenId, "token_not_found"],
} as const;

/** One route for each row of the table, and the same refusal for everything else. */
export function createRoutes(deps: RouteDeps): Hono<RouteEnv> {
  const app = new Hono<RouteEnv>();
  app.use(async (c, next) => {
    const began = deps.clock.monotonic();
    c.set("request_id", deps.nextRequestId());
    await next();
    secure(c.res.headers, c.get("request_id"));
    note(deps, c, deps.clock.monotonic() - began);
  });
  app.use(async (c, next) => {
    checkPlace(deps, visitOf(c));
    await next();
  });
  // Every key of the table is the name of an operation.
  for (const name of Object.keys(operations) as OperationName[]) {
    const [method = "", path = ""] = operations[name].http.split(" ");
    app.on(method, path, (c) => answer(deps, c, name));
  }
  app.notFound((c) => faultResponse(noRoute(c.req.method, c.req.path), c.get("request_id")));
  app.onError((error, c) => {
    const fault = asFault(error);
    const request_id = c.get("request_id");
    if (fault.code === "internal") {
      const { method, path } = c.req;
      deps.log.error("a request failed", { request_id, method, path, error });
    }
    return faultResponse(fault, request_id);
  });
  return app;
}

async function answer(
  deps: RouteDeps,
  c: Context<RouteEnv>,
  name: OperationName,
): Promise<Response> {
  c.set("operation", name);
  const spec: OperationSpec = operations[name];
  const visit = visitOf(c);
  const caller = spec.role === "anyone" ? identify(deps, visit) : admit(deps, visit, spec);
  c.set("user_id", caller?.user_id);
  const handler = findHandler(deps, name, caller);
  const input = parseRequest(spec.input, await readInput(c, spec));
  const ending = new AbortController();
  const signal = AbortSignal.any([c.req.raw.signal, ending.signal, deps.stopping]);
  const headers = new Headers();
  const value = await handler(input, { signal, headers });
  const response = toResponse(spec, value, { clock: deps.clock, onEnd: () => ending.abort() });
  for (const [header, text] of headers) response.headers.append(header, text);
  return response;
}

async function readInput(
  c: Context<RouteEnv>,
  spec: OperationSpec,
): Promise<Record<string, unknown>> {
  const path = c.req.param();
  for (const [name, value] of Object.entries(path)) checkPathId(name, value);
  const query = new URL(c.req.url).searchParams;
  const body = BODY_METHODS.includes(c.req.method) ? parseBody(await readBody(c.req.raw)) : {};
  const lastId = c.req.header("last-event-id");
  if (spec.answers === "stream" && lastId !== undefined && lastId !== "")
    query.set("since", lastId);
  return mergeInput({ path, query, body }, spec.input);
}

function checkPathId(name: string, value: string): void {
  if (!Object.hasOwn(pathIds, name)) return;
  const [schema, code] = pathIds[name as keyof typeof pathIds];
  if (schema.safeParse(value).success) return;
  const noun = name.replace(/_id$/, "");
  throw new Fault(code, `there is no ${noun} ${value}`, { details: { [name]: value } });
}

function visitOf(c: Context<RouteEnv>): Visit {
  return {
    method: c.req.method,
    header: (name) => c.req.header(name),
    url: new URL(c.req.url),
    address: c.env.address,
  };
}

/** An answer of ours is nothing that a browser should show, run or keep. */
function secure(headers: Headers, requestId: string): void {
  headers.set("X-Request-Id", requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "no-referrer");
  if (!headers.has("Content-Security-Policy"))
    headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

/** The path without its query: nothing that somebody typed into an address by mistake is kept. */
function note({ counts, log }: RouteDeps, c: Context<RouteEnv>, ms: number): void {
  const operation = c.get("operation");
  const { status } = c.res;
  counts.add(operation ?? "none", status, ms);
  log.info("request", {
    request_id: c.get("request_id"),
    method: c.req.method,
    path: c.req.path,
    status,
    ms: Math.round(ms * 10) / 10,
    user_id: c.get("user_id"),
    address: c.env.address,
  });
}

function noRoute(method: string, path: string): Fault {
  const code: FaultCode = "invalid_request";
  return new Fault(code, `there is no ${method} ${path}; /v1/openapi.json lists what there is`);
}
