import type { Audit } from "#app/audit.ts";
import type { Caller } from "#app/caller.ts";
import type { Places } from "#app/session.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { ShellRecords, ShellRow } from "#store/shells.ts";
import { findRunId } from "./bash-driver.ts";
import { ShellFolder } from "./shell-folder.ts";

/**
 * One run at a time, whoever starts it:
 *
 *   free      running = null
 *   claimed   running = run id; its session is the host's with the label shell_run = run id
 *
 * A claim ends with its session, and anybody who looks may say so: files are named by their run, so doing it twice, or
 * two at a time, changes nothing. A claim without a session is one that is being started, or whose starter died. Who wants
 * to run then makes an empty session under the claim's idempotency key: a starter that comes later gets that one
 * and knows that it lost.
 */
export interface ShellDeps {
  readonly hosts: SessionHosts;
  readonly store: ShellRecords;
  readonly places: Places;
  /** Where the folders of all shells are. */
  readonly folder: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly audit?: Audit;
}

/** On the session of a shell that somebody types into beside its runs; it ends with the shell. */
export const INTERACTIVE_LABEL = "interactive_shell";

/** Claims that this process is making a session for, one for each request. */
const starting = new Set<string>();

export function markStarting(runId: string): Disposable {
  starting.add(runId);
  return { [Symbol.dispose]: () => void starting.delete(runId) };
}

/** The session of a run in flight; ends the claim of one that is over. */
export async function findLiveRun(deps: ShellDeps, row: ShellRow): Promise<Session | undefined> {
  const { running } = row;
  if (running === null) return undefined;
  const session = await findSession(deps, running);
  if (session === undefined) return undefined;
  if (isLive(session)) return session;
  endClaim(deps, row.shell_id, { run_id: running, session });
  return undefined;
}

/** Ends a claim that nobody holds any more, or throws `busy`. */
export async function endStaleClaim(deps: ShellDeps, caller: Caller, row: ShellRow): Promise<void> {
  const { running, shell_id } = row;
  if (running === null) return;
  if (starting.has(running)) throw busy(shell_id, undefined);
  const session = (await findSession(deps, running)) ?? (await fence(deps, caller, row));
  if (isLive(session) && findRunId(session.argv) !== undefined) throw busy(shell_id, session);
  endClaim(deps, shell_id, { run_id: running, session });
}

interface EndedRun {
  readonly run_id: string;
  readonly session: Session;
}

/** Says whether the run's state was saved, now or by somebody before us. */
export function endClaim(deps: ShellDeps, shellId: string, { run_id, session }: EndedRun): boolean {
  const { store, folder } = deps;
  const files = new ShellFolder(folder, shellId);
  const savedDir = hasEndedByItself(session) ? files.findSavedDir(run_id) : undefined;
  const row = store.find(shellId);
  if (row === undefined) return false;
  if (savedDir === undefined) files.discard(run_id);
  else files.adopt(run_id);
  const isSaved = savedDir !== undefined || files.wasSaved(run_id);
  if (row.running !== run_id) return isSaved;
  const { last_run_at } = row;
  if (savedDir !== undefined) store.update(shellId, { work_dir: savedDir, last_run_at });
  store.swapRunning(shellId, run_id, null);
  return isSaved;
}

export function runLabels(row: ShellRow, runId: string): Record<string, string> {
  const { shell_id, workspace_id } = row;
  return { workspace_id, shell_id, shell_run: runId, idempotency_key: runId };
}

export function busy(shellId: string, session: Session | undefined): Fault {
  return new Fault("busy", "a run is in flight in this shell; wait for its end, or end it", {
    details: { shell_id: shellId, session_id: session?.session_id },
  });
}

async function findSession(deps: ShellDeps, runId: string): Promise<Session | undefined> {
  const [host] = deps.hosts.all();
  const { sessions } = await host.call("session.list", { labels: { shell_run: runId }, limit: 1 });
  return sessions[0];
}

/** Takes the place of a session that was never made; answers with the one that is there. */
async function fence(deps: ShellDeps, caller: Caller, row: ShellRow): Promise<Session> {
  const work_dir = "/";
  return await deps.hosts.place({ work_dir }).call("session.create", {
    kind: "command",
    argv: ["bash", "-c", ":"],
    title: "a run that was given up before it started",
    work_dir,
    env: caller.where.env,
    labels: runLabels(row, row.running ?? ""),
  });
}

/** One that was ended from outside leaves the shell as it was before. */
function hasEndedByItself({ state }: Session): boolean {
  return state.kind === "exited" && state.reason === "exited";
}
