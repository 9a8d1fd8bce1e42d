import * as z from "zod";
import { ShellId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { WorkspaceScope } from "#contract/token.ts";
import {
  assertRoom,
  equals,
  inScope,
  listPage,
  type Page,
  type PageQuery,
  parseRow,
  type TableDeps,
} from "./page.ts";

export const ShellRow = z.object({
  shell_id: ShellId,
  workspace_id: WorkspaceId,
  user_id: z.string().nullable(),
  work_dir: z.string(),
  created_at: z.iso.datetime(),
  last_run_at: z.iso.datetime().nullable(),
  /** Who runs in it; opaque here. */
  running: z.string().nullable(),
});
export type ShellRow = z.infer<typeof ShellRow>;

interface ShellQuery extends PageQuery {
  readonly workspaces: WorkspaceScope;
  readonly workspace_id?: string | undefined;
}

export interface ShellRecords {
  insert(row: ShellRow): void;
  find(shellId: string): ShellRow | undefined;
  list(query: ShellQuery): Page<ShellRow>;
  remove(shellId: string): boolean;
  /** Atomic compare-and-set; false when somebody else was first. */
  swapRunning(shellId: string, expected: string | null, next: string | null): boolean;
  update(shellId: string, change: Pick<ShellRow, "work_dir" | "last_run_at">): void;
}

const SELECT = "SELECT * FROM shells";

export function createShellRecords(deps: TableDeps): ShellRecords {
  const { database } = deps;
  return {
    insert: (row) =>
      database.transaction(() => {
        assertRoom(database.number("SELECT count(*) FROM shells"), limits.shells, "shells");
        database.run(
          `INSERT INTO shells (shell_id, workspace_id, user_id, work_dir, created_at, last_run_at, running)
           VALUES (:shell_id, :workspace_id, :user_id, :work_dir, :created_at, :last_run_at, :running)`,
          row,
        );
      }),
    find: (id) =>
      parseRow(deps, ShellRow, database.first(`${SELECT} WHERE shell_id = :id`, { id })),
    list: ({ workspaces, workspace_id, ...page }) =>
      listPage(
        deps,
        { select: SELECT, schema: ShellRow },
        { ...page, filters: [inScope(workspaces), equals("workspace_id", workspace_id)] },
      ),
    remove: (id) => database.run("DELETE FROM shells WHERE shell_id = :id", { id }) > 0,
    // IS, because nobody is null and null equals nothing.
    swapRunning: (id, expected, next) =>
      database.run(
        "UPDATE shells SET running = :next WHERE shell_id = :id AND running IS :expected",
        { id, expected, next },
      ) > 0,
    update: (id, { work_dir, last_run_at }) =>
      void database.run(
        "UPDATE shells SET work_dir = :work_dir, last_run_at = :last_run_at WHERE shell_id = :id",
        { id, work_dir, last_run_at },
      ),
  };
}
