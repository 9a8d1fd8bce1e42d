import * as z from "zod";
import { Fault } from "#contract/fault.ts";
import { SessionId, ShellId, TaskId, TokenId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { parseJson } from "#contract/parse.ts";
import { isObject } from "#contract/values/is-object.ts";

type Raw = Record<string, unknown>;

/** What an operation is given: the names in the path, the query, and the fields of the body. */
interface RequestParts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Raw;
}

export function mergeInput({ path, query, body }: RequestParts, schema: z.ZodType): Raw {
  const fields: [string, unknown][] = Object.entries(body);
  for (const [name, text] of query) fields.push([name, fromText(text, fieldOf(schema, name))]);
  fields.push(...Object.entries(path));
  const names = new Set<string>();
  for (const [name] of fields) {
    if (names.has(name)) throw givenTwice(name);
    names.add(name);
  }
  // Not by assignment: a field named __proto__ is one like any other, and unknown.
  return Object.fromEntries(fields);
}

const pathIds = {
  session_id: [SessionId, "session_not_found"],
  task_id: [TaskId, "task_not_found"],
  workspace_id: [WorkspaceId, "workspace_not_found"],
  shell_id: [ShellId, "shell_not_found"],
  token_id: [TokenId, "token_not_found"],
  process_id: [SessionId, "process_not_found"],
} as const;

/** An id in a path that cannot be one belongs to nothing, so nothing is found there. */
export function checkPathIds(path: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(path)) {
    if (!Object.hasOwn(pathIds, name)) continue;
    // One of its own keys, as was just seen.
    const [schema, code] = pathIds[name as keyof typeof pathIds];
    if (schema.safeParse(value).success) continue;
    const noun = name.replace(/_id$/, "");
    throw new Fault(code, `there is no ${noun} ${value}`, { details: { [name]: value } });
  }
}

/** A body of JSON, and nothing behind it. An empty one is `{}`. */
export function parseBody(bytes: Uint8Array): Raw {
  const text = decode(bytes);
  if (text.trim() === "") return {};
  const value = parseJson(text, "the body");
  if (isObject(value)) return value;
  throw new Fault("invalid_request", "the body is JSON, but not an object");
}

/** Refuses at the limit, whatever the length header said. */
export async function readBody(request: Request): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limits.body_bytes) throw tooLarge();
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limits.body_bytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Fault("invalid_request", "the body is not UTF-8", { cause: error });
  }
}

/** Query values are text; what the field takes decides whether it is a number or a yes. */
function fromText(text: string, field: z.ZodType | undefined): unknown {
  if (field === undefined || field.safeParse(text).success) return text;
  if (/^-?\d{1,16}$/.test(text) && takes(field, Number(text), "number")) return Number(text);
  if (["1", "true"].includes(text) && takes(field, true, "boolean")) return true;
  if (["0", "false"].includes(text) && takes(field, false, "boolean")) return false;
  return text;
}

/** Whether the field is for values of this type at all: one out of range is named by its range. */
function takes(field: z.ZodType, value: unknown, type: string): boolean {
  const parsed = field.safeParse(value);
  if (parsed.success) return true;
  return parsed.error.issues.every(
    (issue) =>
      issue.code !== "invalid_type" && issue.code !== "invalid_union" && type !== "boolean",
  );
}

export function fieldOf(schema: z.ZodType, name: string): z.ZodType | undefined {
  const shape = schema instanceof z.ZodObject ? schema.shape : undefined;
  const field: unknown = shape?.[name];
  return field instanceof z.ZodType ? field : undefined;
}

function givenTwice(name: string): Fault {
  return new Fault("invalid_request", `${name}: given twice`, { details: { field: name } });
}

function tooLarge(): Fault {
  return new Fault("payload_too_large", `a body has at most ${limits.body_bytes} bytes`, {
    details: { limit: limits.body_bytes },
  });
}
