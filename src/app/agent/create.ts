import { homedir } from "node:os";
import { basename, extname, resolve } from "node:path";
import { describeSpec } from "#agent/team/agent-spec.ts";
import { checkPromptFiles } from "#agent/team/prompt-files.ts";
import type { Caller, Where } from "#app/caller.ts";
import { describeNew } from "#app/session.ts";
import type { LoadedTeam } from "#app/team/team-sources.ts";
import { getVisibleSession } from "#app/visible-session.ts";
import { randomId } from "#base/random-id.ts";
import type { AgentSpec } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import { planLaunch } from "./launch.ts";
import { type AgentDeps, getVisibleAgent, recordAgent } from "./visible-agent.ts";

/** On a session that was asked for by a key: which request has made it. */
const MAKER_LABEL = "made_by";

/** Why a session is removed again whose worker did not begin. */
const NOT_BEGUN = "its agent could not be started";

type AgentCreate = OperationInput<"agent.create">;

/** A new session from a team; or an old one that is brought back, of which everything stays as it was. */
export async function createAgent(
  deps: AgentDeps,
  caller: Caller,
  input: AgentCreate,
): Promise<Session> {
  if (input.resume_session_id !== undefined) {
    const session = await getVisibleAgent(deps, caller, input.resume_session_id);
    await deps.agents.lives.ensure(session.session_id, caller.where);
    return session;
  }
  const loaded = findTeam(deps, caller, input);
  const { workspace_id, task_id, parent_session_id, idempotency_key } = input;
  const request = describeNew(deps, caller, {
    kind: "agent",
    ...defined({ name: input.name }),
    title: input.title ?? titleOf(loaded.name),
    ...{ workspace_id, task_id, parent_session_id, idempotency_key },
    work_dir:
      input.working_dir === undefined
        ? undefined
        : resolve(caller.where.work_dir, input.working_dir),
  });
  if (parent_session_id !== undefined)
    await getVisibleSession(deps.hosts, caller, parent_session_id);
  await checkNamedFiles(caller.where, request.work_dir, input.prompt_files);
  const { yaml, name, base_dir = request.work_dir } = loaded;
  const text = { yaml, name, base_dir, work_dir: request.work_dir };
  const spec = describeSpec(input, loaded.team, text);
  const session = await startAgent(deps, caller, { request, spec });
  const { agent } = spec;
  const details = { agent, team: loaded.team.team_id, task_id: session.task_id };
  recordAgent(deps, caller, { action: "agent.created", session, details });
  return session;
}

/** As the worker would look for them. */
export async function checkNamedFiles(
  { env }: Pick<Where, "env">,
  work_dir: string,
  names: readonly string[] = [],
): Promise<void> {
  await checkPromptFiles(names, { work_dir, home: env.HOME ?? homedir() });
}

interface AgentStart {
  readonly request: HostCreate;
  readonly spec: AgentSpec;
}

/** Starts the worker and tells it what it is. When that fails there is nothing left of it. */
export async function startAgent(
  { hosts, agents }: AgentDeps,
  caller: Caller,
  { request, spec }: AgentStart,
): Promise<Session> {
  const launch = planLaunch(agents.launching, caller.where, spec);
  const { argv, env } = launch;
  const made_by = randomId("req");
  const labels: Record<string, string> = { ...request.labels, [MAKER_LABEL]: made_by };
  const host = hosts.place(request);
  const session = await host.call("session.create", { ...request, argv, env, labels });
  const { session_id } = session;
  if (session.kind !== "agent") throw usedBefore(session);
  if (labels.idempotency_key !== undefined) {
    const found = await host.call("session.labels", { session_id });
    if (found.labels[MAKER_LABEL] !== made_by) {
      // The same request has come before; whoever carries it out begins the agent as well, unless he has died of it.
      await agents.lives.ensure(session_id, caller.where, spec);
      return session;
    }
  }
  try {
    await agents.lives.begin(session_id, launch, spec);
  } catch (error) {
    await host.call("session.close", { session_id, purge: true, detail: NOT_BEGUN });
    throw error;
  }
  return session;
}

function usedBefore({ session_id, kind }: Session): Fault {
  return new Fault("conflict", `idempotency_key: it has made a ${kind} before`, {
    details: { field: "idempotency_key", session_id },
  });
}

function findTeam({ agents }: AgentDeps, caller: Caller, input: AgentCreate): LoadedTeam {
  if (input.source !== undefined) return agents.teams.load(input.source, caller);
  if (input.team_id !== undefined) return agents.teams.get(input.team_id, caller);
  throw new Fault("invalid_request", "source: say which team, by source or by team_id", {
    details: { field: "source" },
  });
}

function titleOf(name: string): string {
  return basename(name, extname(name)).slice(0, limits.title_chars);
}
