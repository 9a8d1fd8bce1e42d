import type { AgentState } from "#agent/state/agent-state.ts";
import type { Caller } from "#app/caller.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { startAgent } from "./create.ts";
import { type AgentDeps, openVisibleAgent, recordAgent } from "./visible-agent.ts";

/** A new session that begins with the first messages of this one. Its worker copies them from our log. */
export async function forkAgent(
  deps: AgentDeps,
  caller: Caller,
  { session_id, at }: OperationInput<"agent.fork">,
): Promise<Session> {
  using source = await openVisibleAgent(deps, caller, session_id);
  const { session, handle } = source;
  const { spec, total } = await deps.agents.views.read(handle, ({ fold }) => ({
    spec: specNow(fold),
    total: fold.transcript({ title: "", from: 0, limit: 1 }).total,
  }));
  if (spec === undefined)
    throw new Fault("invalid_request", "this agent has not begun, so there is nothing to fork");
  if (at > total)
    throw new Fault("invalid_request", `at: the session has ${total} messages, not ${at}`, {
      details: { field: "at", total },
    });
  const { labels } = await deps.hosts.of(session_id).call("session.labels", { session_id });
  const { workspace_id = session.workspace_id, task_id, issue_id } = labels;
  const forked = await startAgent(deps, caller, {
    request: {
      kind: "agent",
      title: await chooseTitle(deps, session),
      work_dir: spec.work_dir,
      env: {},
      umask: caller.where.umask,
      open_files: caller.where.open_files,
      labels: {
        workspace_id,
        ...defined({ task_id, issue_id, user_id: caller.user_id, owner: caller.token_id }),
      },
    },
    spec: { ...spec, titled: true, forked_from: { session_id, at } },
  });
  const details = { from: session_id, at };
  recordAgent(deps, caller, { action: "agent.forked", session: forked, details });
  return forked;
}

/** What was chosen and allowed since the session began belongs to the fork as well. */
function specNow({ spec, talk, agent, model_overrides }: AgentState) {
  if (spec === undefined) return undefined;
  const { session: permissions, safety } = talk.permissions;
  return { ...spec, permissions, safety, agent, model_overrides };
}

const FORKED = / \(fork (\d+)\)$/;

/** `X (fork N)`, where N is the next that is free. */
async function chooseTitle(
  { hosts }: AgentDeps,
  { title, workspace_id }: Session,
): Promise<string> {
  const own = title.replace(FORKED, "");
  const [host] = hosts.all();
  const { sessions } = await host.call("session.list", {
    kind: "agent",
    labels: { workspace_id },
    q: own,
    limit: limits.list_most,
  });
  const taken = sessions
    .filter((other) => other.title.replace(FORKED, "") === own)
    .map((other) => Number(FORKED.exec(other.title)?.[1] ?? 0));
  const suffix = ` (fork ${Math.max(0, ...taken) + 1})`;
  return `${own.slice(0, limits.title_chars - suffix.length)}${suffix}`;
}
