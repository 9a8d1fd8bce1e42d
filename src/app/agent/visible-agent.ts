import type { Audit } from "#app/audit.ts";
import type { Caller } from "#app/caller.ts";
import type { Places } from "#app/session.ts";
import { getVisibleSession } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import type { Agents } from "./agents.ts";

export interface AgentDeps {
  readonly hosts: SessionHosts;
  readonly places: Places;
  readonly agents: Agents;
  /** Absent where there is nobody else. */
  readonly audit?: Audit | undefined;
}

/** The agent session, if the caller may see it. */
export async function getVisibleAgent(
  { hosts }: Pick<AgentDeps, "hosts">,
  caller: Caller,
  sessionId: string,
): Promise<Session> {
  const session = await getVisibleSession(hosts, caller, sessionId);
  if (session.kind === "agent") return session;
  throw notAnAgent(session);
}

/** The same for who reads its log: the newest of the session, and its handle. */
export async function openVisibleAgent(
  deps: Pick<AgentDeps, "hosts">,
  caller: Caller,
  sessionId: string,
): Promise<Disposable & { readonly session: Session; readonly handle: SessionHandle }> {
  const session = await getVisibleAgent(deps, caller, sessionId);
  const handle = await deps.hosts.of(sessionId).open(sessionId);
  return { session, handle, [Symbol.dispose]: () => handle[Symbol.dispose]() };
}

export function recordAgent(
  { audit }: Pick<AgentDeps, "audit">,
  caller: Caller,
  done: {
    readonly action: AuditAction;
    readonly session: Pick<Session, "session_id" | "workspace_id">;
    readonly details?: Readonly<Record<string, string | number | boolean | null>>;
  },
): void {
  const { action, session, details = {} } = done;
  const { session_id, workspace_id } = session;
  audit?.record({ action, caller, workspace_id, target_id: session_id, details });
}

function notAnAgent({ session_id, kind }: Session): Fault {
  return new Fault("unsupported", `this session is a ${kind}, not an agent`, {
    details: { session_id, kind },
  });
}
