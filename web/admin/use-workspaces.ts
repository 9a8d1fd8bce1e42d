import { useCallback } from "react";
import type { CallOptions } from "#client/client.ts";
import type { Workspace } from "#contract/workspace.ts";
import { useApp } from "#web/app/context.ts";
import { useCall } from "#web/live/use-call.ts";

/** As many as one choice can show. */
const LISTED_MOST = 1000;

export function useWorkspaces(): {
  readonly workspaces: readonly Workspace[];
  readonly error: unknown;
} {
  const { client } = useApp();
  const ask = useCallback(
    (options: CallOptions) => client.call("workspace.list", { limit: LISTED_MOST }, options),
    [client],
  );
  const { value, error } = useCall(ask);
  return { workspaces: value?.workspaces ?? NONE, error };
}

const NONE: readonly Workspace[] = [];
