import type { Audit } from "#app/audit.ts";
import type { Caller } from "#app/caller.ts";
import type { Patterns } from "#app/read/patterns.ts";
import type { Places } from "#app/session.ts";
import { asOurs, openVisible } from "#app/visible-session.ts";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

export interface ProcessDeps {
  readonly hosts: SessionHosts;
  readonly patterns: Patterns;
  readonly clock: Clock;
  readonly places: Pick<Places, "hasWorkspace">;
  /** Callers from afar have no directory of their own here, so they say one. */
  readonly requireWorkdir: boolean;
  /** Whether stdout and stderr of what is started are two channels: for who passes them on, each to its own. */
  readonly keepsApart?: boolean | undefined;
  /** How long `execute` waits that is not told; absent = `limits.execute_wait_ms`. */
  readonly defaultWaitMs?: number | undefined;
  /** Hears of what `execute` has started before its end is waited for. */
  readonly onStarted?: ((session: Session) => void) | undefined;
  /** Absent where there is nobody else. */
  readonly audit?: Audit | undefined;
}

/** On the sessions that the tools for models have started: how they were meant. */
export const PROCESS_LABEL = "process";

/** The process, if the caller may know of it; all that he may not see sounds like what does not exist. */
export async function openVisibleProcess(
  { hosts }: Pick<ProcessDeps, "hosts">,
  caller: Caller,
  processId: string,
): Promise<SessionHandle> {
  using stack = new DisposableStack();
  const handle = stack.use(
    await openVisible(hosts, caller, processId).catch(asOurs(() => processNotFound(processId))),
  );
  if (handle.session.kind === "agent") throw processNotFound(processId);
  if (caller.process_owner !== undefined) {
    const { labels } = await hosts
      .of(processId)
      .call("session.labels", { session_id: processId })
      .catch(asOurs(() => processNotFound(processId)));
    if (labels.owner !== caller.process_owner) throw processNotFound(processId);
  }
  stack.move();
  return handle;
}

export function processNotFound(processId: string): Fault {
  return new Fault("process_not_found", `there is no process ${processId}`, {
    details: { process_id: processId },
  });
}

export function recordAction(
  { audit }: Pick<ProcessDeps, "audit">,
  caller: Caller,
  {
    action,
    session: { session_id, workspace_id },
    details,
  }: {
    readonly action: AuditAction;
    readonly session: Session;
    readonly details: Readonly<Record<string, string | number | boolean | null>>;
  },
): void {
  audit?.record({ action, caller, workspace_id, target_id: session_id, details });
}
