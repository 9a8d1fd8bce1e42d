import { resolve } from "node:path";
import { applyOverrides, describeTeam } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Caller } from "#app/caller.ts";
import type { TeamSummary } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { AgentView } from "./agent-view.ts";
import { checkNamedFiles, createAgent } from "./create.ts";
import { forkAgent } from "./fork.ts";
import { runAgent } from "./run.ts";
import { type AgentDeps, openVisibleAgent } from "./visible-agent.ts";
import { createWorkerOperations } from "./worker-operations.ts";

type AgentOperations = Pick<
  Operations,
  Extract<keyof Operations, `agent.${string}` | `team.${string}`>
>;

/** Agents: made, spoken to and looked at. */
export function createAgentOperations(deps: AgentDeps, caller: Caller): AgentOperations {
  return {
    ...teamOperations(deps, caller),
    ...lifeOperations(deps, caller),
    ...logOperations(deps, caller),
    ...createWorkerOperations(deps, caller),
  };
}

function teamOperations({ agents }: AgentDeps, caller: Caller) {
  return {
    "team.load": async ({ source, model_overrides, prompt_files, working_dir }) => {
      const { team } = agents.teams.load(source, caller);
      if (working_dir !== undefined)
        await checkNamedFiles(
          caller.where,
          resolve(caller.where.work_dir, working_dir),
          prompt_files,
        );
      return describeTeam(applyOverrides(team, { model_overrides, prompt_files }));
    },
    "team.list": async (page) => agents.teams.list(page),
  } satisfies Partial<AgentOperations>;
}

function lifeOperations(deps: AgentDeps, caller: Caller) {
  return {
    "agent.create": async (input) => {
      const { session_id } = await createAgent(deps, caller, input);
      return { session_id };
    },
    "agent.fork": async (input) => {
      const { session_id } = await forkAgent(deps, caller, input);
      return { session_id };
    },
    "agent.run": (input, { signal } = {}) => runAgent(deps, caller, { input, signal }),
  } satisfies Partial<AgentOperations>;
}

/** What the log tells; nobody has to be awake for it. */
function logOperations(deps: AgentDeps, caller: Caller) {
  const read = async <T>(sessionId: string, use: (view: AgentView, session: Session) => T) => {
    using agent = await openVisibleAgent(deps, caller, sessionId);
    const { session, handle } = agent;
    return await deps.agents.views.read(handle, (view) => use(view, session));
  };
  return {
    "agent.snapshot": ({ session_id }) =>
      read(session_id, ({ fold, next }, { title, work_dir }) =>
        fold.snapshot({ title, work_dir, events_tail: next }),
      ),
    "agent.transcript": ({ session_id, ...page }) =>
      read(session_id, ({ fold }, { title }) => fold.transcript({ title, ...page })),
    "agent.queue": ({ session_id }) => read(session_id, ({ fold }) => fold.queue()),
    "agent.permissions": ({ session_id }) => read(session_id, ({ fold }) => fold.talk.permissions),
    "agent.team": ({ session_id }) => read(session_id, (view) => describeOwnTeam(view)),
  } satisfies Partial<AgentOperations>;
}

function describeOwnTeam({ fold }: AgentView): TeamSummary {
  const { spec, model_overrides } = fold;
  if (spec === undefined)
    throw new Fault("unsupported", "this agent has not begun, so it has no team yet");
  return describeTeam(loadTeam(spec), { ...spec.model_overrides, ...model_overrides });
}
