import { resolve } from "node:path";
import type { AuditedAction } from "#app/audit.ts";
import { type Caller, chooseWorkspace, workspaceNotFound } from "#app/caller.ts";
import { refuseOurNames } from "#app/session.ts";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { ShellId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput, Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";
import type { ShellRow } from "#store/shells.ts";
import { busy, findLiveRun, INTERACTIVE_LABEL, type ShellDeps } from "./claim.ts";
import { followRun } from "./follow.ts";
import { startRun } from "./run.ts";
import { isDir, ShellFolder } from "./shell-folder.ts";
import { getVisibleShell } from "./visible-shell.ts";

export type ShellOperations = Pick<
  Operations,
  "shell.create" | "shell.list" | "shell.get" | "shell.close" | "shell.run"
>;

export function createShellOperations(deps: ShellDeps, caller: Caller): ShellOperations {
  const { store } = deps;
  const record = (
    action: AuditedAction["action"],
    { shell_id, workspace_id }: ShellRow,
    details: NonNullable<AuditedAction["details"]> = {},
  ) => deps.audit?.record({ action, caller, workspace_id, target_id: shell_id, details });
  return {
    "shell.create": async (input) => {
      const row = createShell(deps, caller, input);
      record("shell.opened", row, { work_dir: row.work_dir });
      return describe(row, undefined);
    },
    "shell.list": async ({ limit = limits.list_default, cursor, workspace_id }) => {
      if (workspace_id !== undefined) chooseWorkspace(caller, workspace_id);
      const { workspaces } = caller;
      const page = store.list({ workspaces, workspace_id, limit, cursor });
      const shells = await Promise.all(page.rows.map((row) => look(deps, row)));
      return { shells: shells.filter((shell) => shell !== undefined), cursor: page.cursor };
    },
    "shell.get": async ({ shell_id }) => {
      const shell = await look(deps, getVisibleShell(deps, caller, shell_id));
      // Closed while we looked.
      return shell ?? describe(getVisibleShell(deps, caller, shell_id), undefined);
    },
    "shell.close": async ({ shell_id }) => {
      const row = getVisibleShell(deps, caller, shell_id);
      await closeShell(deps, row);
      record("shell.closed", row);
      return {};
    },
    "shell.run": async (input, { signal } = {}) => {
      const { session_id } = await startRun(deps, caller, input);
      record("shell.ran", getVisibleShell(deps, caller, input.shell_id), { session_id });
      return followRun(deps, { shell_id: input.shell_id, session_id, signal });
    },
  };
}

/** Nothing runs yet: a shell is a folder with a state. */
function createShell(
  { store, places, folder, clock }: ShellDeps,
  caller: Caller,
  { work_dir, env = {}, workspace_id }: OperationInput<"shell.create">,
): ShellRow {
  const workspace = chooseWorkspace(caller, workspace_id);
  if (!places.hasWorkspace(workspace)) throw workspaceNotFound(workspace);
  refuseOurNames(env);
  const dir = resolve(caller.where.work_dir, work_dir ?? ".");
  if (!isDir(dir)) throw noDirectory(dir);
  const row: ShellRow = {
    shell_id: ShellId.parse(randomId("shl")),
    workspace_id: WorkspaceId.parse(workspace),
    user_id: caller.user_id ?? null,
    work_dir: dir,
    created_at: new Date(clock.now()).toISOString(),
    last_run_at: null,
    running: null,
  };
  const files = new ShellFolder(folder, row.shell_id);
  try {
    files.make({ env: { ...caller.where.env, ...env }, umask: caller.where.umask, work_dir: dir });
    store.insert(row);
  } catch (error) {
    files.remove();
    throw error;
  }
  return row;
}

/** Undefined when it was closed meanwhile. */
async function look(deps: ShellDeps, row: ShellRow): Promise<Shell | undefined> {
  if (row.running === null) return describe(row, undefined);
  const session = await findLiveRun(deps, row);
  // A run that is over has changed the row.
  const now = deps.store.find(row.shell_id);
  return now === undefined ? undefined : describe(now, session);
}

/**
 * Takes the claim, so that nobody else starts, ends the run, then removes the files and last the row: whoever dies in
 * between leaves a shell that can be closed again.
 */
async function closeShell(deps: ShellDeps, row: ShellRow): Promise<void> {
  const { store, folder } = deps;
  const { shell_id } = row;
  const session = await findLiveRun(deps, row);
  const running = store.find(shell_id)?.running;
  // Closed by somebody else.
  if (running === undefined) return;
  const isSame = running === row.running || running === null;
  if (!isSame || !store.swapRunning(shell_id, running, randomId("run")))
    throw busy(shell_id, session);
  const labels = { [INTERACTIVE_LABEL]: shell_id };
  const [host] = deps.hosts.all();
  const { sessions } = await host.call("session.list", { state: "live", labels });
  for (const { session_id } of [...(session === undefined ? [] : [session]), ...sessions])
    await deps.hosts
      .of(session_id)
      .call("session.close", { session_id, detail: "its shell was closed" });
  new ShellFolder(folder, shell_id).remove();
  store.remove(shell_id);
}

function describe(row: ShellRow, session: Session | undefined): Shell {
  const { running, ...shell } = row;
  return { ...shell, running_session_id: running === null ? null : (session?.session_id ?? null) };
}

function noDirectory(dir: string): Fault {
  return new Fault("spawn_failed", `there is no directory ${dir}, so no shell can start in it`, {
    details: { errno: "ENOENT", work_dir: dir },
  });
}
