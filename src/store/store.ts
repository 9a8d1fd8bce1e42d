import type { Clock } from "#base/clock.ts";
import { type Logger, silentLogger } from "#base/logger.ts";
import { type AuditRecords, createAuditRecords } from "./audit.ts";
import { openDatabase } from "./open-database.ts";
import type { TableDeps } from "./page.ts";
import { createShellRecords, type ShellRecords } from "./shells.ts";
import { createTaskRecords, type TaskRecords } from "./tasks.ts";
import { createTicketRecords, type TicketRecords } from "./tickets.ts";
import { createTokenRecords, type TokenRecords } from "./tokens.ts";
import { createWorkspaceRecords, type WorkspaceRecords } from "./workspaces.ts";

/**
 * What outlives a gateway and is no session: one SQLite file, which several processes may have open. Every change is
 * one statement or one transaction.
 */
export interface Store extends Disposable {
  readonly workspaces: WorkspaceRecords;
  readonly tasks: TaskRecords;
  readonly tokens: TokenRecords;
  readonly tickets: TicketRecords;
  readonly audit: AuditRecords;
  readonly shells: ShellRecords;
  /** All of what `work` changes, or nothing. It must not wait for anything. */
  transaction<T>(work: () => T): T;
}

interface StoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log?: Logger;
}

export function openStore({ path, clock, log = silentLogger }: StoreOptions): Store {
  using stack = new DisposableStack();
  const database = stack.use(openDatabase(path));
  const deps: TableDeps = {
    database,
    log,
    now: () => new Date(clock.now()).toISOString(),
    later: (ms) => new Date(clock.now() + ms).toISOString(),
  };
  const tokens = createTokenRecords(deps);
  const tables = {
    workspaces: createWorkspaceRecords(deps),
    tasks: createTaskRecords(deps),
    tokens,
    tickets: createTicketRecords(deps, tokens),
    audit: createAuditRecords(deps),
    shells: createShellRecords(deps),
  };
  const owned = stack.move();
  return {
    ...tables,
    transaction: (work) => database.transaction(work),
    [Symbol.dispose]: () => owned.dispose(),
  };
}
