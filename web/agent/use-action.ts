import { useCallback, useState } from "react";
import { Fault } from "#contract/fault.ts";
import { sayFault } from "#web/live/page-client.ts";

export interface Action {
  readonly isBusy: boolean;
  /** What went wrong the last time, as a sentence. */
  readonly problem: string | undefined;
  /** True when it went well. */
  readonly run: (act: () => Promise<unknown>) => Promise<boolean>;
  readonly clear: () => void;
}

/** Something that a person does: once at a time, and what goes wrong is said where it was done. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = useCallback(async (act: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      return true;
    } catch (error) {
      setProblem(sayRefusal(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  const clear = useCallback(() => setProblem(undefined), []);
  return { isBusy, problem, run, clear };
}

/** As kindly as it can be said. */
export function sayRefusal(error: unknown): string {
  if (!(error instanceof Fault)) return sayFault(error);
  switch (error.code) {
    case "nothing_pending":
      return "Somebody else has answered this already.";
    case "nothing_running":
      return "The agent has just finished, so there is nothing to steer. Send it as a message.";
    case "queue_full":
      return "So much waits for the agent already that nothing more can be queued. Try again when it has read some of it.";
    case "unsupported":
      return `This agent cannot do that: ${error.message}.`;
    case "payload_too_large":
      return "That is more than one message can carry. Send fewer or smaller pictures.";
    default:
      return sayFault(error);
  }
}
