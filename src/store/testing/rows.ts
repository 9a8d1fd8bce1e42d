import { randomId } from "#base/random-id.ts";
import { LOCAL_WORKSPACE, ShellId } from "#contract/ids.ts";
import type { ShellRow } from "#store/shells.ts";

export function createShellRow(fields: Partial<ShellRow> = {}): ShellRow {
  return {
    shell_id: ShellId.parse(randomId("shl")),
    workspace_id: LOCAL_WORKSPACE,
    user_id: "ann",
    work_dir: "/",
    created_at: "2026-01-01T00:00:00.000Z",
    last_run_at: null,
    running: null,
    ...fields,
  };
}
