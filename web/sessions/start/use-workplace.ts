import { useCallback } from "react";
import type { CallOptions } from "#client/client.ts";
import type { Task, Workspace } from "#contract/workspace.ts";
import { useApp } from "#web/app/context.ts";
import { useCall } from "#web/live/use-call.ts";

/** What can be chosen from in a form; who has more than that names it in the cli. */
const CHOICES_MOST = 200;

export interface Workplace {
  /** Where sessions start that are not told where; empty until it is known. */
  readonly workDir: string;
  readonly workspaces: readonly Workspace[];
  readonly tasks: readonly Task[];
}

/** Where the caller works. Nothing of it is needed: without an answer there is just less to choose from. */
export function useWorkplace(): Workplace {
  const { client } = useApp();
  const askMe = useCallback(
    (options: CallOptions) => client.call("caller.get", {}, options),
    [client],
  );
  const askWorkspaces = useCallback(
    (options: CallOptions) => client.call("workspace.list", { limit: CHOICES_MOST }, options),
    [client],
  );
  const askTasks = useCallback(
    (options: CallOptions) => client.call("task.list", { limit: CHOICES_MOST }, options),
    [client],
  );
  return {
    workDir: useCall(askMe).value?.work_dir ?? "",
    workspaces: useCall(askWorkspaces).value?.workspaces ?? [],
    tasks: useCall(askTasks).value?.tasks ?? [],
  };
}
