import * as z from "zod";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import type { WorkspaceScope } from "#contract/token.ts";
import type { Database, Parameters } from "./database.ts";

/** What every table's file gets. */
export interface TableDeps {
  readonly database: Database;
  /** Now, as it is written in rows; such texts sort as the times they name. */
  now(): string;
  /** Later than now, in the same form. */
  later(ms: number): string;
  readonly log: Logger;
}

export interface Page<T> {
  readonly rows: T[];
  readonly cursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface Listing<T> {
  /** `SELECT …, position FROM …`, without a WHERE. */
  readonly select: string;
  readonly schema: z.ZodType<T>;
}

/** A condition is absent where its value is. */
export interface Filter {
  readonly sql: string;
  readonly values: Parameters;
}

/** The newest first. The cursor is the position of the last row that was given, whatever has become of that row. */
export function listPage<T>(
  { database, log }: TableDeps,
  { select, schema }: Listing<T>,
  { limit, cursor, filters }: PageQuery & { readonly filters: readonly (Filter | undefined)[] },
): Page<T> {
  const given = [...filters, cursor === undefined ? undefined : before(cursor)].filter(
    (filter) => filter !== undefined,
  );
  const where =
    given.length === 0 ? "" : `WHERE ${given.map(({ sql }) => `(${sql})`).join(" AND ")}`;
  // One more than asked for tells whether there is another page.
  const found = database.all(`${select} ${where} ORDER BY position DESC LIMIT :most`, {
    ...Object.assign({}, ...given.map(({ values }) => values)),
    most: limit + 1,
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page.map((row) => parseRow({ log }, schema, row)).filter((row) => row !== undefined),
    cursor: last !== undefined && found.length > limit ? String(positionOf(last)) : null,
  };
}

/** A row that somebody damaged is skipped and said, never fatal. */
export function parseRow<T>(
  { log }: Pick<TableDeps, "log">,
  schema: z.ZodType<T>,
  row: unknown,
): T | undefined {
  if (row === undefined) return undefined;
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  log.warn("a row of the database was skipped", {
    field: issue?.path.join("."),
    problem: issue?.message,
    position: positionOf(row),
  });
  return undefined;
}

/** A column that holds JSON; what is none makes the row a damaged one. */
export const JsonColumn = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.issues.push({ code: "custom", message: "is not JSON", input: text });
    return z.NEVER;
  }
});

export function equals(column: string, value: string | undefined): Filter | undefined {
  return value === undefined
    ? undefined
    : { sql: `${column} = :${column}`, values: { [column]: value } };
}

export function inScope(workspaces: WorkspaceScope): Filter | undefined {
  if (workspaces === "*") return undefined;
  return {
    sql: "workspace_id IN (SELECT value FROM json_each(:scope))",
    values: { scope: JSON.stringify(workspaces) },
  };
}

export function assertRoom(count: number, most: number, what: string): void {
  if (count < most) return;
  throw new Fault(
    "too_many",
    `there are ${count} ${what} already, which is the most there may be`,
    {
      details: { limit: most },
    },
  );
}

function before(cursor: string): Filter {
  const position = /^[1-9]\d{0,14}$/.test(cursor) ? Number(cursor) : undefined;
  if (position !== undefined) return { sql: "position < :before", values: { before: position } };
  throw new Fault("invalid_request", "cursor: a list gives it, and this one came from none", {
    details: { field: "cursor" },
  });
}

function positionOf(row: unknown): number | undefined {
  if (typeof row !== "object" || row === null || !("position" in row)) return undefined;
  return typeof row.position === "number" ? row.position : undefined;
}
