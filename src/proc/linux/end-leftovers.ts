import type { Survivor } from "#contract/session-state.ts";
import { killSessionCgroups } from "#proc/cgroup/cgroup.ts";
import type { Leftover } from "#proc/child.ts";
import { readBootId } from "#proc/identity.ts";
import { findTree } from "#proc/tree.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";

/** Their host is gone and with it the right moment to ask politely. */
const GRACE_MS = 100;

/** What sessions of a dead host left running: found by their marks, wherever they were reparented to. */
export async function endLeftovers(
  ender: TreeEnder,
  leftovers: readonly Leftover[],
): Promise<readonly Survivor[]> {
  killSessionCgroups(new Set(leftovers.map((leftover) => leftover.session_id)));
  const endings = leftovers.map((leftover) => {
    // Without a known root only the marks count, and of another boot only the one in the environment.
    const isOfThisBoot = (leftover.identity?.boot_id ?? leftover.boot_id) === readBootId();
    const root = isOfThisBoot && leftover.identity !== undefined ? leftover.identity : NOBODY;
    const limit_mark = isOfThisBoot ? leftover.limit_mark : undefined;
    const marks = {
      session_id: leftover.session_id,
      root,
      limit_mark,
      limit_scope: "all",
    } as const;
    return ender.end(
      {
        root_pid: root.pid,
        find: (snapshot) => findTree(snapshot, marks, process.pid),
        killGroup: () => undefined,
      },
      GRACE_MS,
    );
  });
  return (await Promise.all(endings)).flat();
}

const NOBODY = { pid: -1, start_time: 0, boot_id: "" };
