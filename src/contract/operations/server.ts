import * as z from "zod";
import type { OperationSpec } from "./operation-spec.ts";

const Part = z.strictObject({ ok: z.boolean(), message: z.string().optional() });

/** Anybody hears whether it is up; a caller with a token also how its parts are. */
export const Health = z.strictObject({
  status: z.enum(["ok", "degraded", "stopping"]),
  version: z.string(),
  store: Part.optional(),
  host: z
    .strictObject({
      ...Part.shape,
      pid: z.int().optional(),
      version: z.string().optional(),
      uptime_ms: z.int().optional(),
      sessions: z.int().optional(),
      live: z.int().optional(),
      live_cap: z.int().optional(),
      memory_bytes: z.int().optional(),
      errors: z.int().optional(),
      log_faults: z.int().optional(),
    })
    .optional(),
  disk: z.strictObject({ ...Part.shape, free_bytes: z.int().nullable() }).optional(),
});
export type Health = z.infer<typeof Health>;

export const serverOperations = {
  "server.health": {
    http: "GET /v1/health",
    summary: "Whether the server is up; with a token also its store, host and disk.",
    role: "anyone",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({}),
    output: Health,
    faults: [],
  },
  "server.limits": {
    http: "GET /v1/limits",
    summary: "Every bound that a caller can meet.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({}),
    output: z.record(z.string(), z.number()),
    faults: [],
  },
  "server.openapi": {
    http: "GET /v1/openapi.json",
    summary: "This API as an OpenAPI 3.1 document.",
    role: "anyone",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({}),
    output: z.record(z.string(), z.unknown()),
    faults: [],
  },
  "server.metrics": {
    http: "GET /metrics",
    summary: "Figures for Prometheus.",
    role: "viewer",
    answers: "document",
    runs: "gateway",
    input: z.strictObject({}),
    output: z.string(),
    faults: [],
  },
} as const satisfies Record<string, OperationSpec>;
