import * as z from "zod";
import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import type { Handler } from "#http/handlers.ts";
import {
  describeStatus,
  interruptCommand,
  RunCommand,
  readLogs,
  runCommand,
} from "./execd-commands.ts";
import type { ExecdContext } from "./execd-context.ts";
import { describeMetrics } from "./execd-metrics.ts";
import {
  CreateSession,
  createSession,
  deleteSession,
  describeSession,
  RunInSession,
  runInSession,
} from "./execd-sessions.ts";

/** The execd API: a translation of each of its routes into operations of ours. */
interface ExecdRoute extends Pick<OperationSpec, "http" | "role" | "answers" | "input"> {
  readonly name: string;
  handle(context: ExecdContext, input: unknown): Promise<unknown>;
}

const ById = z.strictObject({ id: z.string() });

export const execdRoutes: readonly ExecdRoute[] = [
  route("GET /ping", { role: "viewer", input: z.strictObject({}), handle: async () => ({}) }),
  route("GET /metrics", { role: "viewer", input: z.strictObject({}), handle: describeMetrics }),
  route("POST /session", { input: CreateSession, handle: createSession }),
  route("GET /session/:id", {
    role: "viewer",
    input: ById,
    handle: (context, { id }) => describeSession(context, id),
  }),
  route("DELETE /session/:id", {
    input: ById,
    handle: (context, { id }) => deleteSession(context, id),
  }),
  route("POST /session/:id/run", {
    answers: "stream",
    input: RunInSession,
    handle: runInSession,
  }),
  route("GET /ws/session/:id", { input: z.object({}), handle: refuseRequest }),
  route("POST /command", { answers: "stream", input: RunCommand, handle: runCommand }),
  route("DELETE /command", {
    input: z.strictObject({ id: z.string().optional() }),
    handle: (context, { id }) => interruptCommand(context, id),
  }),
  route("GET /command/status/:id", {
    role: "viewer",
    input: ById,
    handle: (context, { id }) => describeStatus(context, id),
  }),
  route("GET /command/:id/logs", {
    role: "viewer",
    answers: "document",
    input: z.strictObject({ id: z.string(), cursor: z.int().min(0).optional() }),
    handle: readLogs,
  }),
];

interface ExecdDeps {
  readonly gateway: Gateway;
  readonly clock: Clock;
}

export function findExecdHandler(
  { gateway, clock }: ExecdDeps,
  { handle }: ExecdRoute,
  caller: Who | undefined,
): Handler {
  if (caller === undefined) throw new Fault("unauthenticated", "this needs a token");
  const operations = gateway.operations(caller);
  return (input, { signal, headers }) =>
    handle({ gateway, operations, caller, clock, signal, headers }, input);
}

interface RouteParts<S extends z.ZodType> {
  readonly role?: OperationSpec["role"];
  readonly answers?: OperationSpec["answers"];
  readonly input: S;
  handle(context: ExecdContext, input: z.output<S>): Promise<unknown>;
}

function route<S extends z.ZodType>(http: string, parts: RouteParts<S>): ExecdRoute {
  const { role = "operator", answers = "json", input, handle } = parts;
  return {
    http,
    name: `execd ${http}`,
    role,
    answers,
    input,
    // It was parsed with this very schema.
    handle: (context, parsed) => handle(context, parsed as z.output<S>),
  };
}

async function refuseRequest(): Promise<never> {
  throw new Fault("invalid_request", "this is a WebSocket: ask for an upgrade");
}
