import { join, resolve } from "node:path";
import { createAudit } from "#app/audit.ts";
import { createTaskOperations, type TaskOperations } from "#app/task.ts";
import { createTokenOperations, type TokenOperations } from "#app/token.ts";
import { createWorkspaceOperations, type WorkspaceOperations } from "#app/workspace.ts";
import { systemClock } from "#base/clock.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/program/context.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openHost } from "#host/socket/start-host.ts";
import { openLocalHosts } from "#session/local-host.ts";

/** A command's way to what the server keeps: no server, the store's file itself. One that runs sees every change. */
export interface Records extends Disposable {
  readonly operations: TokenOperations & WorkspaceOperations & TaskOperations;
}

export async function openRecords(dataDir: string | undefined): Promise<Records> {
  const { openStore } = await import("#store/store.ts");
  using stack = new DisposableStack();
  const { path, sessions } = openDataDir(dataDir === undefined ? findDataDir() : resolve(dataDir));
  const store = stack.use(openStore({ path: join(path, "reins.db"), clock: systemClock }));
  const caller = describeCaller();
  // Only who removes a workspace asks a host, for what still runs in it.
  const hosts = stack.use(
    openLocalHosts({
      open: () => openHost({ dataDir: path, command: ownCommand(), env: process.env }),
      sessionsFolder: sessions,
    }),
  );
  const deps = { store, audit: createAudit(store, systemClock), hosts };
  const operations = {
    ...createTokenOperations(deps, caller),
    ...createWorkspaceOperations(deps, caller),
    ...createTaskOperations(deps, caller),
  };
  const owned = stack.move();
  return { operations, [Symbol.dispose]: () => owned.dispose() };
}
