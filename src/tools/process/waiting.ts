import type { Caller } from "#app/caller.ts";
import { createWaitOperations } from "#app/read/wait.ts";
import { asOurs } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import type { HandlerInput, OperationOutput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import { type ProcessDeps, processNotFound } from "./visible-process.ts";

type WaitResult = OperationOutput<"session.wait">;
type WaitInput = HandlerInput<"session.wait">;

/** Waits as `session.wait` does. When the host dies in between, the next one says what became of the process. */
export async function waitFor(
  deps: ProcessDeps,
  caller: Caller,
  { signal, ...input }: WaitInput & { readonly signal: AbortSignal | undefined },
): Promise<WaitResult> {
  const operations = createWaitOperations(deps, caller);
  const options = defined({ signal });
  const wait = () =>
    operations["session.wait"](input, options).catch(
      asOurs(() => processNotFound(input.session_id)),
    );
  try {
    return await wait();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "host_unavailable") throw error;
    return await wait();
  }
}
