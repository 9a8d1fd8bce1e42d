import type { Caller } from "#app/caller.ts";
import { createEventOperations } from "#app/read/events.ts";
import { createSessionOperations } from "#app/session.ts";
import type { Operations } from "#contract/operations.ts";
import { createAgentOperations } from "./agent.ts";
import { interruptAgent } from "./agents.ts";
import type { AgentDeps } from "./visible-agent.ts";

/** Sessions and agents without a server: the operations run in this process, the agents behind the host. */
export function createRuntimeOperations(deps: AgentDeps, caller: Caller) {
  return {
    ...createSessionOperations(
      { ...deps, interruptAgent: (session) => interruptAgent(deps, caller.where, session) },
      caller,
    ),
    ...createEventOperations(deps, caller),
    ...createAgentOperations(deps, caller),
  } satisfies Partial<Operations>;
}
