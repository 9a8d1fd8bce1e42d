import * as z from "zod";
import { type FaultCode, faults } from "#contract/faults.ts";
import type { AnswerKind, OperationSpec } from "#contract/operations/operation-spec.ts";
import { operations } from "#contract/operations.ts";

type Json = Record<string, unknown>;

/** Any operation may answer with these. */
const DOOR_FAULTS: readonly FaultCode[] = [
  "invalid_request",
  "unauthenticated",
  "forbidden",
  "too_many",
  "internal",
  "log_damaged",
  "host_unavailable",
  "shutting_down",
  "disk_full",
  "overloaded",
];
const FAULT_REF = { $ref: "#/components/schemas/Fault" };
const JSON_REF = { $ref: "#/components/schemas/Json" };

let described: Json | undefined;

/** The table as an OpenAPI 3.1 document. */
export function describeApi(): Json {
  described ??= {
    openapi: "3.1.0",
    info: {
      title: "Reins",
      version: "1",
      description: "Agents and terminals that you can always get back to.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths: describePaths(),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Fault: faultSchema(), Json: jsonSchema() },
    },
  };
  return described;
}

function describePaths(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(operations)) {
    const [method = "", route = ""] = spec.http.split(" ");
    const path = route.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(name, spec) };
  }
  return paths;
}

function describeOperation(name: string, spec: OperationSpec): Json {
  const [method = "", route = ""] = spec.http.split(" ");
  const inPath = [...route.matchAll(/:(\w+)/g)].map((match) => match[1] ?? "");
  const { properties = {}, required = [] } = toSchema(spec.input, "input");
  const fields = Object.entries(properties as Record<string, Json>);
  const rest = fields.filter(([field]) => !inPath.includes(field));
  const isQuery = method === "GET" || method === "DELETE";
  const parameters = [
    ...fields
      .filter(([field]) => inPath.includes(field))
      .map((field) => parameter(field, "path", true)),
    ...(isQuery
      ? rest.map((field) => parameter(field, "query", (required as string[]).includes(field[0])))
      : []),
  ];
  return {
    operationId: name,
    summary: spec.summary,
    ...(spec.role === "anyone" ? { security: [] } : { "x-reins-role": spec.role }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isQuery || rest.length === 0 ? {} : { requestBody: body(rest, required as string[]) }),
    responses: { ...describeAnswer(spec), ...describeFaults(spec.faults) },
  };
}

function parameter([name, schema]: [string, Json], place: string, required: boolean): Json {
  return { name, in: place, required, schema };
}

function body(fields: readonly [string, Json][], required: readonly string[]): Json {
  const names = fields.map(([name]) => name).filter((name) => required.includes(name));
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(names.length === 0 ? {} : { required: names }),
    additionalProperties: false,
  };
  return { required: names.length > 0, content: { "application/json": { schema } } };
}

const mediaTypes: Readonly<Record<Exclude<AnswerKind, "socket">, string>> = {
  json: "application/json",
  bytes: "application/octet-stream",
  stream: "text/event-stream",
  document: "*/*",
};

function describeAnswer({ answers, status = 200, output }: OperationSpec): Json {
  if (answers === "socket") {
    const frames = toSchema(output, "output");
    return { 101: { description: "A WebSocket with frames of JSON.", "x-reins-frames": frames } };
  }
  const schema =
    answers === "bytes" ? { type: "string", format: "binary" } : toSchema(output, "output");
  const description = answers === "stream" ? "Events, each of this schema." : "Done.";
  const headers = answers === "bytes" ? { headers: outputHeaders } : {};
  return { [status]: { description, ...headers, content: { [mediaTypes[answers]]: { schema } } } };
}

const integerHeader = (description: string) => ({ description, schema: { type: "integer" } });
const outputHeaders = {
  "X-Reins-Offset": integerHeader("Of the first byte."),
  "X-Reins-Next": integerHeader("Where the next range begins."),
  "X-Reins-Tail": integerHeader("The end of what was printed."),
  "X-Reins-Gap": {
    description: "from-to: what was asked for begins in bytes that are no longer kept.",
    schema: { type: "string" },
  },
  "X-Reins-State": { description: "Of the session.", schema: { type: "string" } },
  "X-Reins-Final": {
    description: "1 when this range reaches the end of a session that cannot print any more.",
    schema: { type: "string" },
  },
};

function describeFaults(codes: readonly FaultCode[]): Json {
  const byStatus = new Map<number, FaultCode[]>();
  for (const code of new Set([...DOOR_FAULTS, ...codes])) {
    const { status } = faults[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.join(", "), content: { "application/json": { schema: FAULT_REF } } },
    ]),
  );
}

function faultSchema(): Json {
  return {
    type: "object",
    required: ["error"],
    additionalProperties: false,
    properties: {
      error: {
        type: "object",
        required: ["code", "message", "details", "request_id"],
        properties: {
          code: { type: "string", enum: Object.keys(faults) },
          message: { type: "string" },
          details: { type: "object" },
          request_id: { type: "string" },
        },
      },
    },
  };
}

function jsonSchema(): Json {
  return {
    description: "Any JSON.",
    anyOf: [
      ...["string", "number", "boolean", "null"].map((type) => ({ type })),
      { type: "array", items: JSON_REF },
      { type: "object", additionalProperties: JSON_REF },
    ],
  };
}

const OWN_REF = /"#\/\$defs\/__schema\d+"/g;

/** The one type of ours that contains itself is any JSON; the document has it once, and not in each schema. */
function toSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, $defs, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  if ($defs === undefined) return rest;
  // What was JSON stays JSON.
  return JSON.parse(
    JSON.stringify(rest).replaceAll(OWN_REF, JSON.stringify(JSON_REF.$ref)),
  ) as Json;
}
