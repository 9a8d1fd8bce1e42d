import type { Caller } from "#app/caller.ts";
import { createLocalDoor } from "#app/local-door.ts";
import { createEventOperations } from "#app/read/events.ts";
import { createSessionOperations } from "#app/session.ts";
import { createBackend } from "#contract/agent/create-backend.ts";
import type { RuntimeCallName, RuntimeStreamName } from "#contract/agent/create-runtime.ts";
import type { RuntimeBackend } from "#contract/agent/runtime.ts";
import type { Operations } from "#contract/operations.ts";
import { createAgentOperations } from "./agent.ts";
import { interruptAgent } from "./agents.ts";
import type { AgentDeps } from "./visible-agent.ts";

type LocalOperations = Pick<Operations, RuntimeCallName | RuntimeStreamName>;

/** Agents of this machine without a server: the operations run in this process, the agents behind the host. */
export function createLocalBackend(deps: AgentDeps, caller: Caller): RuntimeBackend {
  const operations: LocalOperations = {
    ...createSessionOperations(
      { ...deps, interruptAgent: (session) => interruptAgent(deps, caller, session) },
      caller,
    ),
    ...createEventOperations(deps, caller),
    ...createAgentOperations(deps, caller),
  };
  return createBackend(createLocalDoor(operations));
}
