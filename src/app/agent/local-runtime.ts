import type { Caller } from "#app/caller.ts";
import { createEventOperations } from "#app/read/events.ts";
import { createSessionOperations } from "#app/session.ts";
import { createBackend } from "#contract/agent/create-backend.ts";
import type {
  RuntimeCallName,
  RuntimeOperations,
  RuntimeStreamName,
} from "#contract/agent/create-runtime.ts";
import type { RuntimeBackend } from "#contract/agent/runtime.ts";
import {
  type OperationInput,
  type OperationOutput,
  type Operations,
  operations as operationTable,
  type StreamItem,
} from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
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
  return createBackend(createRuntimeOperations(operations));
}

function createRuntimeOperations(operations: LocalOperations): RuntimeOperations {
  return {
    call: async <N extends RuntimeCallName>(
      name: N,
      input: OperationInput<N>,
      { signal }: Asking = {},
    ) => {
      signal?.throwIfAborted();
      // The table ties each name to its input and its answer; one by one, and so for a name of many.
      const handler = operations[name] as unknown as Handler<OperationOutput<N>>;
      return await handler(check(name, input), signal === undefined ? {} : { signal });
    },
    stream: <N extends RuntimeStreamName>(
      name: N,
      input: OperationInput<N>,
      { signal }: Asking = {},
    ) => {
      // As above.
      const handler = operations[name] as unknown as Handler<
        AsyncIterable<StreamItem<OperationOutput<N>>>
      >;
      const options = signal === undefined ? {} : { signal };
      return begin(async () => handler(check(name, input), options), signal);
    },
  };
}

/** As a server would: what is not known, or wrong, is refused by its name. */
function check(name: RuntimeCallName | RuntimeStreamName, input: object): unknown {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return parseRequest(operationTable[name].input, Object.fromEntries(given));
}

interface Asking {
  readonly signal?: AbortSignal | undefined;
}

type Handler<A> = (input: unknown, options: { readonly signal?: AbortSignal }) => Promise<A>;

/** As a client does: nothing is asked before somebody reads. */
async function* begin<T>(
  open: () => Promise<AsyncIterable<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  signal?.throwIfAborted();
  yield* await open();
  signal?.throwIfAborted();
}
