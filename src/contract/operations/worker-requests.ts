import * as z from "zod";
import { AgentSpec } from "#contract/agent/spec.ts";
import { agentRequests } from "./agent-requests.ts";

type Rows = typeof agentRequests;
/** An operation that the session's worker carries out. */
export type WorkerOperationName = keyof Rows;

const Keys = z.record(z.string(), z.string());
/** The first line. The keys of model providers are in it and nowhere else. */
const Init = z.strictObject({
  keys: Keys,
  /** Absent from the second life on: the log has it. */
  spec: AgentSpec.optional(),
});

type Forwarded = {
  [N in WorkerOperationName as Rows[N]["worker"]]: {
    readonly input: Omit<z.output<Rows[N]["input"]>, "session_id">;
    readonly output: z.output<Rows[N]["output"]>;
  };
};
interface Own {
  readonly init: {
    readonly input: z.output<typeof Init>;
    readonly output: { readonly life: number; readonly agent: string };
  };
  readonly interrupt: {
    readonly input: Readonly<Record<string, never>>;
    readonly output: { readonly interrupted: boolean };
  };
}
/** The gateway adds the key of a provider that the first line had no key for. */
interface Added {
  readonly model: { readonly input: { readonly keys?: Record<string, string> | undefined } };
}
type Requests = Forwarded & Own & Added;

export type WorkerRequestType = keyof Requests;
export type WorkerInput<T extends WorkerRequestType> = Requests[T]["input"];
export type WorkerOutput<T extends WorkerRequestType> = Requests[T]["output"];

const rows: readonly { readonly worker: string; readonly input: z.ZodObject }[] =
  Object.values(agentRequests);

/**
 * The input of each request to a worker, which is a line of JSON `{id, type, …}`, answered by `reply {id, result}` or
 * `reply {id, error}`.
 */
export const workerInputs: Readonly<Record<WorkerRequestType, z.ZodObject>> = {
  init: Init,
  interrupt: z.strictObject({}),
  // Each row names its request.
  ...(Object.fromEntries(
    rows.map(({ worker, input }) => [
      worker,
      input.omit({ session_id: true }).extend(worker === "model" ? { keys: Keys.optional() } : {}),
    ]),
  ) as Record<keyof Forwarded, z.ZodObject>),
};

/** An answer of the worker; it is in the events log too, and is not an event for anyone else. */
export const WorkerReply = z.strictObject({
  type: z.literal("reply"),
  id: z.string(),
  result: z.json().optional(),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.json()).optional(),
    })
    .optional(),
});
export type WorkerReply = z.infer<typeof WorkerReply>;
