import { findProcess, isDead, type ProcessStat } from "#proc/identity.ts";
import type { ProcessTable, Snapshot } from "#proc/process-table.ts";
import { sendSignal } from "#proc/signal-process.ts";
import { findTree, type TreeMarks } from "#proc/tree.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import { TreeHandle } from "#proc/tree-handle.ts";
import type { Cgroup } from "./cgroup.ts";

export interface SessionTreeDeps {
  readonly marks: TreeMarks;
  readonly cgroup: Cgroup | undefined;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
}

export function createSessionTree({ marks, cgroup, table, ender }: SessionTreeDeps): TreeHandle {
  return new TreeHandle({
    table,
    ender,
    send: sendSignal,
    root_pid: marks.root.pid,
    find: (snapshot) => findMembers(snapshot, marks, cgroup),
    killGroup: () => void cgroup?.kill(),
    hasGroup: cgroup !== undefined,
    release: () => cgroup?.remove(),
  });
}

function findMembers(
  snapshot: Snapshot,
  marks: TreeMarks,
  cgroup: Cgroup | undefined,
): readonly ProcessStat[] {
  const members = findTree(snapshot, marks, process.pid);
  const known = new Set([process.pid, ...members.map((member) => member.pid)]);
  // Read now, not from the snapshot: who forks faster than the table can be read is in the cgroup all the same.
  const others = (cgroup?.pids() ?? [])
    .filter((pid) => !known.has(pid))
    .flatMap((pid) => findProcess(pid) ?? [])
    .filter((stat) => !isDead(stat));
  return [...members, ...others];
}
