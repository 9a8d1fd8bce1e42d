import type { Caller } from "#app/caller.ts";
import type { WorkerInput, WorkerOutput, WorkerRequestType } from "#contract/agent/requests.ts";
import type { Session } from "#contract/session.ts";
import { type AgentDeps, getVisibleAgent } from "./visible-agent.ts";

type Nothing = Readonly<Record<string, never>>;
type Asked<T extends WorkerRequestType> = {
  readonly session_id: string;
} & (WorkerInput<T> extends Nothing ? unknown : WorkerInput<T>);

export interface AskOptions<T extends WorkerRequestType> {
  readonly signal?: AbortSignal;
  /** Called when it was done, with what the worker said. */
  readonly done?: (session: Session, answer: WorkerOutput<T>) => void;
}

/** Passes a request on to the worker of a session that the caller may see. */
export function createAsk(deps: AgentDeps, caller: Caller) {
  return async <T extends WorkerRequestType>(
    type: T,
    { session_id, ...input }: Asked<T>,
    { signal, done }: AskOptions<T> = {},
  ): Promise<WorkerOutput<T>> => {
    const session = await getVisibleAgent(deps, caller, session_id);
    // What is left is the worker's part: the tables of both agree on it.
    const request = { session_id, type, input: input as unknown as WorkerInput<T>, signal };
    const answer = await deps.agents.ask(request, caller);
    done?.(session, answer);
    return answer;
  };
}
