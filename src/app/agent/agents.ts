import type { Where } from "#app/caller.ts";
import { TeamSources, type TeamSourcesDeps } from "#app/team/team-sources.ts";
import { randomId } from "#base/random-id.ts";
import { isLive, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import {
  type WorkerInput,
  type WorkerOutput,
  type WorkerRequestType,
  workerInputs,
} from "#contract/operations/worker-requests.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { AgentViews } from "./agent-views.ts";
import type { LaunchDeps } from "./launch.ts";
import { AgentLives } from "./revive.ts";
import { WorkerLink, type WorkerLinkDeps, type WorkerRequest } from "./worker-link.ts";

interface AgentsDeps extends WorkerLinkDeps, LaunchDeps {
  readonly teams: TeamSourcesDeps;
}

/** The agents of this process, for all of its callers: their workers, what their logs tell, and the teams. */
export interface Agents {
  readonly launching: LaunchDeps;
  readonly teams: TeamSources;
  readonly views: AgentViews;
  readonly lives: AgentLives;
  readonly worker: WorkerLink;
  /** Brings the worker back if need be, and asks it. */
  ask<T extends WorkerRequestType>(
    request: WorkerRequest<T>,
    where: Where,
  ): Promise<WorkerOutput<T>>;
}

export function createAgents(deps: AgentsDeps): Agents {
  const worker = new WorkerLink(deps);
  const views = new AgentViews();
  const lives = new AgentLives({ ...deps, worker, views });
  return {
    launching: deps,
    teams: new TeamSources(deps.teams),
    views,
    lives,
    worker,
    ask: async (request, where) => {
      const asked = { ...request, input: withKey(request.type, request.input) };
      await lives.ensure(request.session_id, where);
      try {
        return await worker.ask(asked);
      } catch (error) {
        // Parked just before the line came, or killed: the next life knows by the log and the key what was done.
        if (!(error instanceof Fault) || error.code !== "already_exited") throw error;
      }
      await lives.ensure(request.session_id, where);
      return await worker.ask(asked);
    },
  };
}

/** Ends the turn and keeps the session; false when none ran. A turn that waits for people may have no worker. */
export async function interruptAgent(
  { agents, hosts }: { readonly agents: Agents; readonly hosts: SessionHosts },
  where: Where,
  session: Session,
): Promise<boolean> {
  const { session_id } = session;
  if (!isLive(session)) {
    using handle = await hosts.of(session_id).open(session_id);
    const activity = await agents.views.read(handle, ({ fold }) => fold.activity);
    if (activity === "idle" || !isResumable(session)) return false;
  }
  const { interrupted } = await agents.ask({ session_id, type: "interrupt", input: {} }, where);
  return interrupted;
}

/** A request that is sent twice must be applied once. */
function withKey<T extends WorkerRequestType>(type: T, input: WorkerInput<T>): WorkerInput<T> {
  if (!Object.hasOwn(workerInputs[type].shape, "idempotency_key")) return input;
  return { idempotency_key: randomId("key"), ...defined(input) };
}
