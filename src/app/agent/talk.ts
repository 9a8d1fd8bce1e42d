import { addressNamesOf, keyNamesOf } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Caller } from "#app/caller.ts";
import type { Queued } from "#contract/agent/requests.ts";
import type { AuditAction } from "#contract/operations/audit.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { createAsk } from "./ask.ts";
import { findKeys } from "./keys.ts";
import { type AgentDeps, openVisibleAgent, recordAgent } from "./visible-agent.ts";

export type TalkOperations = Pick<
  Operations,
  | "agent.send"
  | "agent.steer"
  | "agent.followup"
  | "agent.resume"
  | "agent.elicitation"
  | "agent.summarize"
  | "agent.switch"
  | "agent.model"
  | "agent.permit"
>;

type Details = Readonly<Record<string, string | number | boolean | null>>;

/** What is said to an agent. The audit has counts and names, never the words. */
export function createTalkOperations(deps: AgentDeps, caller: Caller): TalkOperations {
  const ask = createAsk(deps, caller);
  const record = (action: AuditAction, details: Details) => (session: Session) =>
    recordAgent(deps, caller, { action, session, details });
  const sent = (kind: string, messages: readonly unknown[]) => {
    const note = record("agent.sent", { kind, messages: messages.length });
    // What was heard before was written down before.
    return (session: Session, { status }: Queued) => {
      if (status !== "duplicate") note(session);
    };
  };
  return {
    "agent.send": (input, options) =>
      ask("messages", input, { ...options, done: sent("message", input.messages) }),
    "agent.steer": (input, options) =>
      ask("steer", input, { ...options, done: sent("steer", input.messages) }),
    "agent.followup": (input, options) =>
      ask("followup", input, { ...options, done: sent("followup", input.messages) }),
    "agent.resume": (input, options) => {
      const { approval_id, decision } = input;
      const action = decision === "reject" ? "agent.rejected" : "agent.approved";
      return ask("resume", input, { ...options, done: record(action, { approval_id, decision }) });
    },
    "agent.elicitation": (input, options) => {
      const { elicitation_id, action } = input;
      const done = record("agent.answered", { elicitation_id, action });
      return ask("elicitation", input, { ...options, done });
    },
    "agent.summarize": (input, options) => ask("summarize", input, options),
    "agent.switch": (input, options) => {
      const done = record("agent.changed", { agent: input.name });
      return ask("agent", input, { ...options, done });
    },
    "agent.model": async (input, options) => {
      const { agent = null, model } = input;
      const keys = model === "" ? {} : await findModelKeys(deps, caller, input);
      const done = record("agent.changed", { agent, model });
      return await ask("model", { ...input, keys }, { ...options, done });
    },
    "agent.permit": (input, options) => {
      const { safety = null, allow = [], ask: asking = [], deny = [] } = input;
      const counts = { allow: allow.length, ask: asking.length, deny: deny.length };
      const done = record("agent.permitted", { safety, ...counts });
      return ask("permissions", input, { ...options, done });
    },
  };
}

/** Of a model that the worker may not have been given the key of. */
async function findModelKeys(
  deps: AgentDeps,
  caller: Caller,
  { session_id, model }: { readonly session_id: string; readonly model: string },
): Promise<Record<string, string>> {
  using agent = await openVisibleAgent(deps, caller, session_id);
  const spec = await deps.agents.views.read(agent.feed, ({ fold }) => fold.spec);
  if (spec === undefined) return {};
  const team = loadTeam(spec);
  const names = [keyNamesOf, addressNamesOf].flatMap((find) => find(team, { "*": model }));
  return findKeys(deps.agents.launching.keyEnv, names);
}
