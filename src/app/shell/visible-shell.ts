import { type Caller, maySee } from "#app/caller.ts";
import { Fault } from "#contract/fault.ts";
import type { ShellRecords, ShellRow } from "#store/shells.ts";

/** The shell, if the caller may see it; a foreign one is answered as one that does not exist. */
export function getVisibleShell(
  { store }: { readonly store: ShellRecords },
  caller: Caller,
  shellId: string,
): ShellRow {
  const row = store.find(shellId);
  if (row !== undefined && maySee(caller, row.workspace_id)) return row;
  throw shellNotFound(shellId);
}

export function shellNotFound(shellId: string): Fault {
  return new Fault("shell_not_found", `there is no shell ${shellId}`, {
    details: { shell_id: shellId },
  });
}
