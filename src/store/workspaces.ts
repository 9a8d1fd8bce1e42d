import * as z from "zod";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE, TokenId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { WorkspaceScope } from "#contract/token.ts";
import type { Workspace } from "#contract/workspace.ts";
import {
  assertRoom,
  inScope,
  listPage,
  type Page,
  type PageQuery,
  parseRow,
  type TableDeps,
} from "./page.ts";

const WorkspaceRow = z.object({
  workspace_id: WorkspaceId,
  name: z.string(),
  created_at: z.iso.datetime(),
});

export interface WorkspaceRecords {
  create(name: string): Workspace;
  find(workspaceId: string): Workspace | undefined;
  list(query: PageQuery & { readonly workspaces: WorkspaceScope }): Page<Workspace>;
  rename(workspaceId: string, name: string): Workspace | undefined;
  /** With the tokens that were for it alone. Undefined when there is none; `conflict` while it has tasks. */
  remove(workspaceId: string): { readonly revoked: readonly TokenId[] } | undefined;
}

const SELECT = "SELECT * FROM workspaces";

export function createWorkspaceRecords(deps: TableDeps): WorkspaceRecords {
  const { database } = deps;
  const parse = (row: unknown) => parseRow(deps, WorkspaceRow, row);
  const find = (id: string) => parse(database.first(`${SELECT} WHERE workspace_id = :id`, { id }));
  const insert = (row: Workspace) =>
    database.run(
      `INSERT INTO workspaces (workspace_id, name, created_at)
       VALUES (:workspace_id, :name, :created_at) ON CONFLICT (workspace_id) DO NOTHING`,
      row,
    );
  if (find(LOCAL_WORKSPACE) === undefined)
    insert({ workspace_id: LOCAL_WORKSPACE, name: "local", created_at: deps.now() });
  return {
    create: (name) =>
      database.transaction(() => {
        const count = database.number("SELECT count(*) FROM workspaces");
        assertRoom(count, limits.workspaces, "workspaces");
        const workspace_id = WorkspaceId.parse(randomId("wsp"));
        const row = { workspace_id, name, created_at: deps.now() };
        insert(row);
        return row;
      }),
    find,
    list: ({ workspaces, ...page }) =>
      listPage(
        deps,
        { select: SELECT, schema: WorkspaceRow },
        { ...page, filters: [inScope(workspaces)] },
      ),
    rename: (id, name) =>
      parse(
        database.first("UPDATE workspaces SET name = :name WHERE workspace_id = :id RETURNING *", {
          id,
          name,
        }),
      ),
    remove: (id) => database.transaction(() => remove(deps, id)),
  };
}

function remove({ database }: TableDeps, id: string): { revoked: TokenId[] } | undefined {
  if (id === LOCAL_WORKSPACE)
    throw createConflict(id, `${id} is where what names no workspace belongs, so it stays`);
  const tasks = database.number("SELECT count(*) FROM tasks WHERE workspace_id = :id", { id });
  if (tasks > 0)
    throw createConflict(id, `the workspace ${id} still has tasks (${tasks}); remove them first`);
  const tokens = database.all(
    `SELECT token_id, kind FROM tokens AS one WHERE is_everywhere = 0
     AND EXISTS (SELECT 1 FROM token_workspaces WHERE token_id = one.token_id AND workspace_id = :id)
     AND NOT EXISTS (SELECT 1 FROM token_workspaces WHERE token_id = one.token_id AND workspace_id <> :id)`,
    { id },
  );
  const alone = z.array(z.object({ token_id: TokenId, kind: z.string() })).parse(tokens);
  for (const { token_id } of alone)
    database.run("DELETE FROM tokens WHERE token_id = :token_id", { token_id });
  if (database.run("DELETE FROM workspaces WHERE workspace_id = :id", { id }) === 0)
    return undefined;
  // Cookies go with the token that they came from and are nobody's to list.
  return {
    revoked: alone.filter(({ kind }) => kind !== "cookie").map(({ token_id }) => token_id),
  };
}

function createConflict(workspaceId: string, message: string): Fault {
  return new Fault("conflict", message, { details: { workspace_id: workspaceId } });
}
