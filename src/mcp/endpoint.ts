import { createMcpHandler } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Who } from "#app/caller.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { randomId } from "#base/random-id.ts";
import { limits } from "#contract/limits.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { createMcpServer } from "./server.ts";

export interface EndpointDeps {
  readonly tools: (caller: Who) => Tools;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request that has passed the door. */
interface McpVisit {
  readonly caller: Who;
  readonly body: Uint8Array;
  /** Ends what it waits for, for the reason given; aborted as well when the answer has left. */
  readonly signal: AbortSignal;
}

const SESSION_HEADER = "mcp-session-id";
/** Nothing changes that one could subscribe to. */
const SUBSCRIPTIONS = 0;

/**
 * MCP over HTTP. Nothing is kept between two requests, so a gateway may be killed and the next one goes on: each
 * request has a server of its own, made for its caller. The session id that older clients are given is only a name,
 * by which the cancelling of a call, a request of its own, finds that call.
 */
export function createMcpEndpoint(deps: EndpointDeps) {
  const { version, clock, log } = deps;
  // One for each request that is being answered, so at most as many as there are connections.
  const underWay = new Map<string, AbortController>();
  return async (request: Request, { caller, body, signal }: McpVisit): Promise<Response> => {
    const { method, url, headers } = request;
    const message = parseMessage(body);
    const nameOf = (id: string | number) =>
      JSON.stringify([caller.token_id, headers.get(SESSION_HEADER), id]);
    const cancelled = new AbortController();
    if (message?.kind === "cancel") underWay.get(nameOf(message.id))?.abort();
    if (message?.kind === "call" && headers.has(SESSION_HEADER))
      enter(underWay, nameOf(message.id), { cancelled, signal });
    const handler = createMcpHandler(
      () => createMcpServer({ tools: () => deps.tools(caller), version, clock, log, signal }),
      {
        keepAliveMs: limits.heartbeat_ms,
        maxRequestBodySize: limits.body_bytes,
        maxSubscriptions: SUBSCRIPTIONS,
        onerror: (error) => log.warn("an MCP request was refused", { error: error.message }),
      },
    );
    const asked = new Request(url, {
      method,
      headers,
      signal: AbortSignal.any([request.signal, cancelled.signal]),
      ...(body.byteLength === 0 ? {} : { body: Buffer.from(body) }),
    });
    const response = await handler.fetch(asked);
    if (message?.kind !== "initialize" || !response.ok) return response;
    const named = new Response(response.body, response);
    named.headers.set(SESSION_HEADER, randomId("mcp"));
    return named;
  };
}

interface Entry {
  readonly cancelled: AbortController;
  /** Aborted at the end. */
  readonly signal: AbortSignal;
}

function enter(underWay: Map<string, AbortController>, name: string, entry: Entry): void {
  const { cancelled, signal } = entry;
  underWay.set(name, cancelled);
  const leave = () => {
    if (underWay.get(name) === cancelled) underWay.delete(name);
  };
  signal.addEventListener("abort", leave, { once: true });
}

const RequestId = z.union([z.string(), z.number()]);
const Message = z.union([
  z
    .object({
      method: z.literal("notifications/cancelled"),
      params: z.object({ requestId: RequestId }),
    })
    .transform(({ params }) => ({ kind: "cancel" as const, id: params.requestId })),
  z
    .object({ method: z.literal("initialize"), id: RequestId })
    .transform(({ id }) => ({ kind: "initialize" as const, id })),
  z
    .object({ method: z.string(), id: RequestId })
    .transform(({ id }) => ({ kind: "call" as const, id })),
]);

/** As far as we care: everything else, and what is wrong, is the protocol's. */
function parseMessage(body: Uint8Array): z.output<typeof Message> | undefined {
  try {
    return Message.safeParse(JSON.parse(Buffer.from(body).toString("utf8"))).data;
  } catch {
    // Not JSON: the protocol has an answer for that.
    return undefined;
  }
}
