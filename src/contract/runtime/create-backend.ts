import { Fault } from "#contract/fault.ts";
import type { OperationCalls, OperationOutput } from "#contract/operations.ts";
import { createRuntime } from "./create-runtime.ts";
import type { RuntimeBackend } from "./runtime.ts";

/** Sessions behind whatever carries out the operations. */
export function createBackend(operations: OperationCalls): RuntimeBackend {
  return {
    load: (request) => operations.call("team.load", request),
    create: async (request) => {
      const { session_id } = await operations.call("agent.create", request);
      return createRuntime(operations, session_id);
    },
    open: async (sessionId) => {
      // Ids are branded where they are made and checked where they are used.
      const session_id = sessionId as OperationOutput<"agent.create">["session_id"];
      const { kind } = await operations.call("session.get", { session_id });
      if (kind !== "agent")
        throw new Fault("unsupported", `this session is a ${kind}, not an agent`, {
          details: { session_id, kind },
        });
      return createRuntime(operations, session_id);
    },
  };
}
