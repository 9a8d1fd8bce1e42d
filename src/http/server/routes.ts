import { type Context, Hono } from "hono";
import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import { giveBack } from "#app/read/range-buffers.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { asFault, Fault, isUnexpected } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import type { OutputRange } from "#contract/operations/reading.ts";
import { type OperationName, operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { withoutSecrets } from "#contract/token.ts";
import { toResponse } from "#http/answers.ts";
import {
  type AuthDeps,
  authenticateOptional,
  authorize,
  checkOriginAndHost,
  type Visit,
} from "#http/auth.ts";
import { isCompressible } from "#http/compression.ts";
import {
  type Asked,
  describeFaultAt,
  isExecdRequest,
  noExecdRoute,
} from "#http/dialects/execd-faults.ts";
import { execdRoutes, findExecdHandler } from "#http/dialects/execd-routes.ts";
import { findHandler, type Handler } from "#http/handlers.ts";
import { type AnswerMcp, answerMcp, MCP_PATH, type McpRequest } from "#http/mcp.ts";
import type { RequestCounts } from "#http/metrics.ts";
import type { OpenVisits } from "#http/open-visits.ts";
import type { Page } from "#http/page/page.ts";
import { checkPathIds, fieldOf, mergeInput, parseBody, readBody } from "#http/request-input.ts";

interface RouteDeps extends AuthDeps {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts: RequestCounts;
  readonly isSecure: boolean;
  readonly visits: OpenVisits;
  /** Aborted when the server stops: streams end with it. */
  readonly stopping: AbortSignal;
  readonly nextRequestId: () => string;
  readonly mcp?: AnswerMcp | undefined;
  readonly page?: Page | undefined;
}

interface Variables {
  request_id: string;
  user_id: string | undefined;
  operation: string | undefined;
}

/** Given by the server with each request. */
interface Bindings {
  /** The peer's. */
  readonly address: string;
  /** Calls when the answer has left. */
  readonly onSent?: (sent: () => void) => void;
}

type RouteEnv = { Bindings: Bindings; Variables: Variables };

const BODY_METHODS = ["POST", "PATCH", "PUT", "DELETE"];

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
    checkOriginAndHost(deps, visitOf(c));
    await next();
  });
  // Before ours: `/metrics` is a path of both, and of theirs with their header.
  for (const spec of execdRoutes) {
    const [method = "", path = ""] = spec.http.split(" ");
    const find = (caller: Who | undefined) => findExecdHandler(deps, spec, caller);
    app.on(method, path, (c, next) =>
      isExecdRequest(askedBy(c)) ? answer(deps, c, { name: spec.name, spec, find }) : next(),
    );
  }
  // Every key of the table is the name of an operation.
  for (const name of Object.keys(operations) as OperationName[]) {
    const [method = "", path = ""] = operations[name].http.split(" ");
    const find = (caller: Who | undefined) => findHandler(deps, name, caller);
    app.on(method, path, (c) => answer(deps, c, { name, spec: operations[name], find }));
  }
  const { mcp } = deps;
  if (mcp !== undefined) app.all(MCP_PATH, (c) => answerMcp({ ...deps, mcp }, mcpRequest(c)));
  const { page } = deps;
  if (page !== undefined) app.get("*", (c, next) => answerPage(page, c) ?? next());
  app.notFound((c) => refusal(c, noRoute(c.req.method, askedBy(c))));
  app.onError((error, c) => {
    const fault = asFault(error);
    const request_id = c.get("request_id");
    if (isUnexpected(error)) {
      const { method } = c.req;
      deps.log.error("a request failed", { request_id, method, path: pathOf(c), error });
    }
    return refusal(c, fault);
  });
  return app;
}

/** What is called at a path, and how it is answered. */
interface Route {
  readonly name: string;
  readonly spec: Pick<OperationSpec, "http" | "role" | "answers" | "status" | "input">;
  find(caller: Who | undefined): Handler;
}

async function answer(
  deps: RouteDeps,
  c: Context<RouteEnv>,
  { name, spec, find }: Route,
): Promise<Response> {
  c.set("operation", name);
  const visit = visitOf(c);
  const caller =
    spec.role === "anyone" ? authenticateOptional(deps, visit) : authorize(deps, visit, spec);
  c.set("user_id", caller?.user_id);
  const handler = find(caller);
  const input = parseRequest(spec.input, await readInput(c, spec));
  const ending = new AbortController();
  using stack = new DisposableStack();
  if (caller !== undefined) stack.use(deps.visits.enter(caller, (fault) => ending.abort(fault)));
  const signal = AbortSignal.any([c.req.raw.signal, ending.signal, deps.stopping]);
  const headers = new Headers();
  const value = await handler(input, { signal, headers, address: visit.address });
  // Who was sent away while it waited hears that, and not what it waited for.
  if (spec.answers === "json" || spec.answers === "bytes") ending.signal.throwIfAborted();
  // Its bytes were lent for this one answer.
  if (spec.answers === "bytes") c.env.onSent?.(() => giveBack((value as OutputRange).bytes));
  const accepted = c.req.header("accept-encoding");
  const response = await toResponse(spec, value, {
    clock: deps.clock,
    signal: ending.signal,
    onEnd: endOf(stack.move(), ending),
    onError: (error) => noteBroken(deps, c, error),
    compressible: isCompressible(name, spec) ? { accepted } : undefined,
  });
  for (const [header, text] of headers) response.headers.append(header, text);
  if (c.req.raw.method !== "HEAD") return response;
  // Nobody will read it.
  await response.body?.cancel();
  return new Response(null, response);
}

/** No token is needed: there is nothing in it but the program itself. */
function answerPage(page: Page, c: Context<RouteEnv>): Response | undefined {
  const response = page.answer({ path: c.req.path, header: (name) => c.req.header(name) });
  if (response !== undefined) c.set("operation", "page");
  return response;
}

function mcpRequest(c: Context<RouteEnv>): McpRequest {
  c.set("operation", "mcp");
  return {
    raw: c.req.raw,
    visit: visitOf(c),
    onCaller: ({ user_id }) => c.set("user_id", user_id),
    onSent: (sent) => c.env.onSent?.(sent),
  };
}

/** A reason of its own would be an error with a stack, made for every request. */
const FINISHED = "finished";

/** What the request held, once its answer is over. */
function endOf(held: DisposableStack, ending: AbortController): () => void {
  return () => {
    held.dispose();
    ending.abort(FINISHED);
  };
}

/** The status has been sent, so the log is the only place for what nobody expected. */
function noteBroken({ log, stopping }: RouteDeps, c: Context<RouteEnv>, error: unknown): void {
  const isWanted = !c.req.raw.signal.aborted && !stopping.aborted;
  if (!isUnexpected(error) || !isWanted) return;
  log.error("an answer broke off", { request_id: c.get("request_id"), path: pathOf(c), error });
}

async function readInput(
  c: Context<RouteEnv>,
  spec: Route["spec"],
): Promise<Record<string, unknown>> {
  const path = c.req.param();
  checkPathIds(path);
  const query = new URL(c.req.url).searchParams;
  const body = BODY_METHODS.includes(c.req.method) ? parseBody(await readBody(c.req.raw)) : {};
  const lastId = c.req.header("last-event-id");
  const isResumable = spec.answers === "stream" && fieldOf(spec.input, "since") !== undefined;
  if (isResumable && lastId !== undefined && lastId !== "") query.set("since", lastId);
  return mergeInput({ path, query, body }, spec.input);
}

/** Of a request whose `Host` no URL can have; the door refuses it by that name. */
const NO_URL = new URL("http://invalid");

function visitOf(c: Context<RouteEnv>): Visit {
  return {
    method: c.req.method,
    header: (name) => c.req.header(name),
    url: URL.parse(c.req.url) ?? NO_URL,
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

/** Without its query and without secrets: nothing that somebody typed into an address by mistake is kept. */
function pathOf(c: Context<RouteEnv>): string {
  return withoutSecrets(c.req.path);
}

function note({ counts, log }: RouteDeps, c: Context<RouteEnv>, ms: number): void {
  const operation = c.get("operation");
  const { status } = c.res;
  counts.add(operation ?? "none", status, ms);
  log.info("request", {
    request_id: c.get("request_id"),
    method: c.req.method,
    path: pathOf(c),
    status,
    ms: Math.round(ms * 10) / 10,
    user_id: c.get("user_id"),
    address: c.env.address,
  });
}

/** In the shape of the API that was asked. */
function refusal(c: Context<RouteEnv>, fault: Fault): Response {
  const { status, headers, body } = describeFaultAt(askedBy(c), fault, c.get("request_id"));
  return new Response(body, { status, headers });
}

function askedBy(c: Context<RouteEnv>): Asked {
  return { path: c.req.path, header: (name) => c.req.header(name) };
}

function noRoute(method: string, asked: Asked): Fault {
  const { path } = asked;
  if (isExecdRequest(asked)) return noExecdRoute(method, path);
  const code: FaultCode = "invalid_request";
  return new Fault(code, `there is no ${method} ${path}; /v1/openapi.json lists what there is`);
}
