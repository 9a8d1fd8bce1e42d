import { useCallback } from "react";
import { Fault } from "#contract/fault.ts";
import { type Action, sayRefusal, useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";

/** An answer to the agent. That somebody else was first is said at the edge, because the form is about to go. */
export function useAnswer(): Action {
  const { toasts } = useApp();
  const action = useAction();
  const { run: act } = action;
  const run = useCallback<Action["run"]>(
    (send) =>
      act(async () => {
        try {
          await send();
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "nothing_pending") throw error;
          toasts.add("info", sayRefusal(error));
        }
      }),
    [act, toasts],
  );
  return { ...action, run };
}
