import * as z from "zod";
import { WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { AuditAction, type AuditEntry } from "#contract/operations/audit.ts";
import { type WorkspaceScope, withoutSecrets } from "#contract/token.ts";
import {
  equals,
  inScope,
  JsonColumn,
  listPage,
  type Page,
  type PageQuery,
  type TableDeps,
} from "./page.ts";

/** Small facts; not what was typed or printed, and no secret. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

export interface AuditFact {
  readonly at: string;
  readonly action: AuditAction;
  readonly user_id: string | null;
  readonly token_id: string | null;
  readonly workspace_id: string | null;
  readonly target_id: string | null;
  readonly details: AuditDetails;
}

interface AuditQuery extends PageQuery {
  /** Rows without a workspace are for those who see all of them. */
  readonly workspaces: WorkspaceScope;
  readonly workspace_id?: string | undefined;
  readonly user_id?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly target_id?: string | undefined;
}

export interface AuditRecords {
  /** Forgets the oldest beyond the limit. */
  insert(fact: AuditFact): void;
  /** The same, unless there is a row of this action, target and time already. */
  insertOnce(fact: AuditFact): void;
  list(query: AuditQuery): Page<AuditEntry>;
}

/** Of one text among the details. */
const DETAIL_CHARS = 500;

const AuditRow = z
  .object({
    position: z.int(),
    at: z.iso.datetime(),
    action: AuditAction,
    user_id: z.string().nullable(),
    token_id: z.string().nullable(),
    workspace_id: WorkspaceId.nullable(),
    target_id: z.string().nullable(),
    details: JsonColumn.pipe(z.record(z.string(), z.unknown())),
  })
  .transform(({ position, ...row }): AuditEntry => ({ audit_id: position, ...row }));

export function createAuditRecords(deps: TableDeps): AuditRecords {
  const { database } = deps;
  const insert = (fact: AuditFact) => insertFact(deps, fact);
  const has = ({ action, target_id, at }: AuditFact) =>
    database.number(
      `SELECT EXISTS (SELECT 1 FROM audit
       WHERE target_id = :target_id AND action = :action AND at = :at)`,
      { action, target_id, at },
    ) === 1;
  return {
    insert,
    insertOnce: (fact) => {
      // Mostly it is there, and to find that out takes no lock.
      if (has(fact)) return;
      database.transaction(() => {
        if (!has(fact)) insert(fact);
      });
    },
    list: ({ workspaces, workspace_id, user_id, action, target_id, ...page }) =>
      listPage(
        deps,
        { select: "SELECT * FROM audit", schema: AuditRow },
        {
          ...page,
          filters: [
            inScope(workspaces),
            equals("workspace_id", workspace_id),
            equals("user_id", user_id),
            equals("action", action),
            equals("target_id", target_id),
          ],
        },
      ),
  };
}

function insertFact({ database }: TableDeps, { details, ...fact }: AuditFact): void {
  database.transaction(() => {
    database.run(
      `INSERT INTO audit (at, action, user_id, token_id, workspace_id, target_id, details)
       VALUES (:at, :action, :user_id, :token_id, :workspace_id, :target_id, :details)`,
      { ...fact, details: JSON.stringify(harmless(details)) },
    );
    // Positions have no holes, so this counts.
    database.run("DELETE FROM audit WHERE position <= (SELECT max(position) FROM audit) - :most", {
      most: limits.audit_rows,
    });
  });
}

function harmless(details: AuditDetails): AuditDetails {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === "string" ? withoutSecrets(value).slice(0, DETAIL_CHARS) : value,
    ]),
  );
}
