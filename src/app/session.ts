import { Fault } from "#contract/fault.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { OperationInput, Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { Task } from "#contract/workspace.ts";
import type { HostCreate, HostList } from "#host/socket/methods.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import type { Audit } from "./audit.ts";
import { type Caller, chooseWorkspace, maySee, type Who, workspaceNotFound } from "./caller.ts";
import { getVisibleSession } from "./visible-session.ts";

/** The ones that need nothing but the host: also the cli's without a server. The table's schemas are not loaded here. */
export type SessionOperations = Pick<
  Operations,
  | "session.create"
  | "session.list"
  | "session.get"
  | "session.update"
  | "session.close"
  | "session.input"
  | "session.resize"
  | "session.signal"
  | "session.interrupt"
>;

/** What a session can belong to; the store knows. */
export interface Places {
  hasWorkspace(workspaceId: string): boolean;
  findTask(taskId: string): Task | undefined;
}

/** Without a server: workspaces and tasks are the server's, and who is here has been let in. */
export const localPlaces: Places = { hasWorkspace: () => true, findTask: () => undefined };

export interface SessionDeps {
  readonly hosts: SessionHosts;
  readonly places: Places;
  /** For terminals of tasks; 0 = never. */
  readonly taskIdleMs?: number;
  /** What a terminal runs that is not told; absent = the host's choice. */
  readonly shell?: string | undefined;
  /** Absent in the cli without a server: there is nobody else. */
  readonly audit?: Audit | undefined;
  /** Stops the turn of an agent; false when none ran. Absent where nobody speaks to agents. */
  readonly interruptAgent?: (session: Session) => Promise<boolean>;
}

export function createSessionOperations(deps: SessionDeps, caller: Caller): SessionOperations {
  return { ...lifeOperations(deps, caller), ...steeringOperations(deps, caller) };
}

function lifeOperations(deps: SessionDeps, caller: Caller) {
  const { hosts } = deps;
  const visible = (sessionId: string) => getVisibleSession(hosts, caller, sessionId);
  const record = createRecord(deps, caller);
  return {
    "session.create": async (input) => {
      const request = describeNew(deps, caller, input);
      if (input.parent_session_id !== undefined) await visible(input.parent_session_id);
      const session = await hosts.place(request).call("session.create", request);
      const { kind, task_id, work_dir } = session;
      record("session.opened", session, { kind, work_dir, task_id });
      return session;
    },
    "session.list": async ({ workspace_id, task_id, ...filters }) => {
      const [host] = hosts.all();
      const request = { ...filters, ...scopeOf(caller, { workspace_id, task_id }) };
      const { sessions, cursor } = await host.call("session.list", request);
      return { sessions: [...sessions], cursor };
    },
    "session.get": ({ session_id }) => visible(session_id),
    "session.update": async (input) => {
      await visible(input.session_id);
      const session = await hosts.of(input.session_id).call("session.rename", input);
      record("session.renamed", session);
      return session;
    },
    "session.close": async ({ session_id, reason, purge = false }) => {
      await visible(session_id);
      const detail = defined({ detail: reason });
      const request = { session_id, purge, ...detail };
      const session = await hosts.of(session_id).call("session.close", request);
      record("session.closed", session, { purge, ...defined({ reason }) });
      return session;
    },
  } satisfies Partial<SessionOperations>;
}

function steeringOperations(deps: SessionDeps, caller: Caller) {
  const { hosts } = deps;
  const visible = (sessionId: string) => getVisibleSession(hosts, caller, sessionId);
  const record = createRecord(deps, caller);
  const signal = async (session: Session, request: OperationInput<"session.signal">) => {
    const done = await hosts.of(request.session_id).call("session.signal", request);
    record("session.signalled", session, { signal: request.signal });
    return done;
  };
  return {
    "session.input": async (input) => {
      const session = await visible(input.session_id);
      if (session.kind === "agent") throw notTyped(session);
      const data_b64 = input.data_b64 ?? Buffer.from(input.data ?? "").toString("base64");
      await typeInto(hosts.of(input.session_id), caller, { ...input, data: undefined, data_b64 });
      const bytes = Buffer.byteLength(data_b64, "base64");
      record("session.wrote", session, { inputs: 1, bytes });
      if (input.takeover === true && session.controller !== null)
        record("session.taken_over", session, { from: session.controller.holder });
      return {};
    },
    "session.resize": async (input) => {
      const session = await visible(input.session_id);
      const done = await hosts.of(input.session_id).call("session.resize", input);
      record("session.resized", session, { cols: input.cols, rows: input.rows });
      return done;
    },
    "session.signal": async (request) => await signal(await visible(request.session_id), request),
    "session.interrupt": async ({ session_id }) => {
      const session = await visible(session_id);
      if (session.kind !== "agent") return await signal(session, { session_id, signal: "SIGINT" });
      const isDone = (await deps.interruptAgent?.(session)) ?? notHere(session);
      if (isDone) record("agent.interrupted", session);
      return { signalled: isDone ? 1 : 0 };
    },
  } satisfies Partial<SessionOperations>;
}

function notTyped({ session_id }: Session): Fault {
  return new Fault(
    "unsupported",
    "an agent is not typed to; send it messages by POST /v1/sessions/{id}/messages",
    { details: { session_id } },
  );
}

function notHere({ session_id }: Session): never {
  throw new Fault("unsupported", "agents are not spoken to from here", { details: { session_id } });
}

/** Writes down who did it, where somebody keeps such a list. */
function createRecord({ audit }: SessionDeps, caller: Caller) {
  return (
    action: AuditAction,
    { session_id, workspace_id }: Session,
    details: Readonly<Record<string, string | number | boolean | null>> = {},
  ): void => {
    audit?.record({ action, caller, workspace_id, target_id: session_id, details });
  };
}

/** A takeover holds control for as long as this one input takes; then it is free. */
async function typeInto(
  host: SessionHost,
  caller: Caller,
  { data: _, takeover = false, ...request }: OperationInput<"session.input">,
): Promise<void> {
  if (!takeover) {
    await host.call("session.input", request);
    return;
  }
  const { session_id } = request;
  const viewer = nameOf(caller);
  const attachment = await host.attach({ session_id, viewer, role: "controller", takeover });
  try {
    await host.call("session.input", { ...request, generation: attachment.generation });
  } finally {
    await attachment.detach();
  }
}

/** How others see who holds control. */
export function nameOf({ user_id }: Who): string {
  return user_id ?? "local";
}

function scopeOf(
  caller: Caller,
  {
    workspace_id,
    task_id,
  }: { readonly workspace_id?: string | undefined; readonly task_id?: string | undefined },
): Pick<HostList, "labels" | "any_label"> {
  const labels = defined({ task_id });
  if (workspace_id !== undefined)
    return { labels: { ...labels, workspace_id: chooseWorkspace(caller, workspace_id) } };
  if (caller.workspaces === "*") return { labels };
  return { labels, any_label: { name: "workspace_id", values: caller.workspaces } };
}

export function describeNew(
  { places, taskIdleMs, shell }: Pick<SessionDeps, "places" | "taskIdleMs" | "shell">,
  caller: Caller,
  input: OperationInput<"session.create">,
): HostCreate {
  const {
    env = {},
    workspace_id,
    task_id,
    idempotency_key,
    work_dir,
    idle_timeout_ms,
    ...rest
  } = input;
  refuseOurNames(env);
  const task = task_id === undefined ? undefined : getTask(places, caller, task_id);
  const workspace = chooseWorkspace(caller, workspace_id ?? task?.workspace_id);
  if (!places.hasWorkspace(workspace)) throw workspaceNotFound(workspace);
  if (task !== undefined && task.workspace_id !== workspace)
    throw workspaceMismatch(task, workspace);
  const idle =
    idle_timeout_ms ?? (task !== undefined && rest.kind === "terminal" ? taskIdleMs : undefined);
  return {
    ...rest,
    ...defined({ idle_timeout_ms: idle, shell }),
    work_dir: work_dir ?? task?.work_dir ?? caller.where.work_dir,
    env: { ...caller.where.env, ...env },
    umask: caller.where.umask,
    open_files: caller.where.open_files,
    labels: defined({
      workspace_id: workspace,
      task_id,
      issue_id: task?.issue_id ?? undefined,
      prior_session_id: task?.prior_session_id ?? undefined,
      user_id: caller.user_id,
      owner: caller.token_id,
      idempotency_key,
    }),
  };
}

/** One that the caller may not see is one that does not exist. */
export function getTask(places: Places, caller: Who, taskId: string): Task {
  const task = places.findTask(taskId);
  if (task !== undefined && maySee(caller, task.workspace_id)) return task;
  throw new Fault("task_not_found", `there is no task ${taskId}`, { details: { task_id: taskId } });
}

function workspaceMismatch({ task_id, workspace_id }: Task, named: string): Fault {
  return new Fault(
    "workspace_mismatch",
    `the task ${task_id} belongs to ${workspace_id}, not to ${named}`,
    {
      details: { task_id, workspace_id },
    },
  );
}

export function refuseOurNames(env: Readonly<Record<string, string>>): void {
  const name = Object.keys(env).find((key) => key.startsWith("REINS_"));
  if (name === undefined) return;
  throw new Fault("invalid_request", `env: ${name} is set by Reins itself, as every REINS_ name`, {
    details: { field: "env" },
  });
}
