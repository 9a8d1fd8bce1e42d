import { addressNamesOf, keyNamesOf } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Caller } from "#app/caller.ts";
import { agentRequests, type Queued } from "#contract/operations/agent-requests.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { WorkerOperationName } from "#contract/operations/worker-requests.ts";
import type { OperationInput, OperationOutput, Operations } from "#contract/operations.ts";
import { findKeys } from "./keys.ts";
import { type AgentDeps, getVisibleAgent, openVisibleAgent, recordAgent } from "./visible-agent.ts";

type WorkerOperations = Pick<Operations, WorkerOperationName>;

/** The operations that the worker of a session carries out: each row of `agentRequests` is passed on to it. */
export function createWorkerOperations(deps: AgentDeps, caller: Caller): WorkerOperations {
  const forward = async <N extends WorkerOperationName>(
    name: N,
    input: OperationInput<N>,
    signal?: AbortSignal,
  ): Promise<OperationOutput<N>> => {
    const { session_id, ...given } = input;
    const session = await getVisibleAgent(deps, caller, session_id);
    const added = await additions[name]?.(deps, caller, input);
    const answer = await deps.agents.ask(
      {
        ...{ session_id, type: agentRequests[name].worker, signal },
        // The row's input without the session's id is what its worker takes.
        input: { ...given, ...added } as never,
      },
      caller.where,
    );
    const note = notes[name]?.(input, answer as never);
    if (note !== undefined) recordAgent(deps, caller, { ...note, session });
    return answer as OperationOutput<N>;
  };
  const handlers = Object.keys(agentRequests).map((name) => [
    name,
    (input: never, { signal }: { readonly signal?: AbortSignal } = {}) =>
      forward(name as WorkerOperationName, input, signal),
  ]);
  // One handler for each row, which ties the name to its input and its answer.
  return Object.fromEntries(handlers) as WorkerOperations;
}

type Additions = {
  readonly [N in WorkerOperationName]?: (
    deps: AgentDeps,
    caller: Caller,
    input: OperationInput<N>,
  ) => Promise<object>;
};

/** What the worker needs beside the caller's input. */
const additions: Additions = {
  "agent.model": async (deps, caller, { session_id, model }) => {
    if (model === "") return { keys: {} };
    using agent = await openVisibleAgent(deps, caller, session_id);
    const spec = await deps.agents.views.read(agent.handle, ({ fold }) => fold.spec);
    if (spec === undefined) return { keys: {} };
    const team = loadTeam(spec);
    const names = [keyNamesOf, addressNamesOf].flatMap((find) => find(team, { "*": model }));
    return { keys: findKeys(deps.agents.launching.keyEnv, names) };
  },
};

interface Note {
  readonly action: AuditAction;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

type Notes = {
  readonly [N in WorkerOperationName]?: (
    input: OperationInput<N>,
    answer: OperationOutput<N>,
  ) => Note | undefined;
};

/** What the audit records of a request: counts and names, never the words. */
const notes: Notes = {
  "agent.send": noteSent("message"),
  "agent.steer": noteSent("steer"),
  "agent.followup": noteSent("followup"),
  "agent.resume": ({ approval_id, decision }) => ({
    action: decision === "reject" ? "agent.rejected" : "agent.approved",
    details: { approval_id, decision },
  }),
  "agent.elicitation": ({ elicitation_id, action }) => ({
    action: "agent.answered",
    details: { elicitation_id, action },
  }),
  "agent.switch": ({ name }) => ({ action: "agent.changed", details: { agent: name } }),
  "agent.model": ({ agent = null, model }) => ({
    action: "agent.changed",
    details: { agent, model },
  }),
  "agent.permit": ({ safety = null, allow = [], ask = [], deny = [] }) => ({
    action: "agent.permitted",
    details: { safety, allow: allow.length, ask: ask.length, deny: deny.length },
  }),
};

/** A duplicate was recorded when it was first sent. */
export function noteSent(kind: string) {
  return ({ messages }: { readonly messages: readonly unknown[] }, { status }: Queued) =>
    status === "duplicate"
      ? undefined
      : ({ action: "agent.sent", details: { kind, messages: messages.length } } as const);
}
