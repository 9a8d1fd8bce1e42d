import type { Caller } from "#app/caller.ts";
import { randomId } from "#base/random-id.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { ShellRow } from "#store/shells.ts";
import { describeRun, findRunId } from "./bash-driver.ts";
import { busy, endStaleClaim, markStarting, runLabels, type ShellDeps } from "./claim.ts";
import { nearestDir, ShellFolder } from "./shell-folder.ts";
import { getVisibleShell, shellNotFound } from "./visible-shell.ts";

interface RunRequest {
  readonly shell_id: string;
  readonly command: string;
  readonly timeout_ms?: number | undefined;
  /** False: the command reads nothing. Else what is sent to the run's session, until its end is sent. */
  readonly stdin?: boolean | undefined;
}

/** Starts a command in a shell. It goes on whether or not somebody follows it. */
export async function startRun(
  deps: ShellDeps,
  caller: Caller,
  request: RunRequest,
): Promise<Session> {
  const row = getVisibleShell(deps, caller, request.shell_id);
  const runId = randomId("run");
  using _starting = markStarting(runId);
  await claim(deps, caller, { row, runId });
  const session = await createSession(deps, caller, { row, runId, request });
  const isOurs = findRunId(session.argv) === runId;
  const now = deps.store.find(row.shell_id);
  if (isOurs && now?.running === runId) return session;
  const { session_id } = session;
  // Somebody took the claim for dead, or closed the shell, before our session was there.
  if (isOurs && isLive(session))
    await deps.hosts.of(session_id).call("session.close", { session_id });
  throw now === undefined ? shellNotFound(row.shell_id) : busy(row.shell_id, undefined);
}

interface Claim {
  readonly row: ShellRow;
  readonly runId: string;
}

async function claim(deps: ShellDeps, caller: Caller, { row, runId }: Claim): Promise<void> {
  const { store } = deps;
  const { shell_id } = row;
  if (!store.swapRunning(shell_id, null, runId)) {
    await endStaleClaim(deps, caller, getVisibleShell(deps, caller, shell_id));
    if (!store.swapRunning(shell_id, null, runId)) {
      getVisibleShell(deps, caller, shell_id);
      throw busy(shell_id, undefined);
    }
  }
}

async function createSession(
  deps: ShellDeps,
  caller: Caller,
  { row, runId, request }: Claim & { readonly request: RunRequest },
): Promise<Session> {
  const files = new ShellFolder(deps.folder, row.shell_id);
  const release = () => {
    files.discard(runId);
    deps.store.swapRunning(row.shell_id, runId, null);
  };
  try {
    // What the run before left is in the row by now.
    const { work_dir } = getVisibleShell(deps, caller, row.shell_id);
    const env = files.environment();
    files.prepareRun(runId, request.command);
    const host = deps.hosts.place({ work_dir });
    await host.connect();
    deps.store.update(row.shell_id, {
      work_dir,
      last_run_at: new Date(deps.clock.now()).toISOString(),
    });
    return await host.call("session.create", {
      kind: "command",
      argv: describeRun({ folder: files.path, run_id: runId }),
      title: titleOf(request.command),
      work_dir: nearestDir(work_dir),
      env,
      open_files: caller.where.open_files,
      stdin: request.stdin ?? true,
      ...defined({ lifetime_ms: request.timeout_ms }),
      labels: {
        ...runLabels(row, runId),
        ...defined({ user_id: caller.user_id }),
      },
    });
  } catch (error) {
    // A host that went away may have made the session: then the claim is its, and who looks next finds out.
    if (!(error instanceof Fault && error.code === "host_unavailable")) release();
    // Closed meanwhile, and its folder with it.
    if (deps.store.find(row.shell_id) === undefined) throw shellNotFound(row.shell_id);
    throw error;
  }
}

function titleOf(command: string): string {
  const line = command.trim().split("\n")[0] ?? "";
  return line.slice(0, limits.title_chars).toWellFormed();
}
