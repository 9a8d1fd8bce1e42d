import type { Cgroup } from "#proc/cgroup/cgroup.ts";
import { findProcess, isDead, type ProcessStat } from "#proc/identity.ts";
import { type ProcessTable, readMarks, type Snapshot } from "#proc/process-table.ts";
import { sendSignal } from "#proc/signal-process.ts";
import { findTree, type TreeMarks } from "#proc/tree.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import { TreeHandle } from "#proc/tree-handle.ts";
import type { Adopted } from "./adopted.ts";

interface SessionTreeDeps {
  readonly marks: TreeMarks;
  readonly cgroup: Cgroup | undefined;
  /** Not there in a process that does not adopt orphans. */
  readonly adopted: Adopted | undefined;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
}

export function createSessionTree(deps: SessionTreeDeps): TreeHandle {
  const { marks, cgroup, adopted, table, ender } = deps;
  return new TreeHandle({
    table,
    ender,
    send: sendSignal,
    root_pid: marks.root.pid,
    find: (snapshot) => findMembers(snapshot, deps),
    killGroup: () => void cgroup?.kill(),
    hunt: () =>
      adopted?.hunt(
        createMarkTest(readMarks(), marks),
        (member) => void sendSignal(member, "SIGKILL"),
      ),
    hasGroup: cgroup !== undefined,
    release: () => cgroup?.remove(),
  });
}

function findMembers(
  snapshot: Snapshot,
  { marks, cgroup, adopted }: SessionTreeDeps,
): readonly ProcessStat[] {
  const members = findTree(snapshot, marks, process.pid);
  const known = new Set([process.pid, ...members.map((member) => member.pid)]);
  // Read now, not from the snapshot: who forks faster than the table can be read is in the cgroup all the same.
  const others = (cgroup?.pids() ?? [])
    .filter((pid) => !known.has(pid))
    .flatMap((pid) => findProcess(pid) ?? [])
    .filter((stat) => !isDead(stat));
  const found = [...members, ...others];
  if (found.length > 0 || adopted === undefined) return found;
  return adopted.find(createMarkTest(snapshot, marks));
}

function createMarkTest(
  { limitOf, sessionOf }: Pick<Snapshot, "limitOf" | "sessionOf">,
  { session_id, limit_mark }: TreeMarks,
): (pid: number) => boolean {
  return (pid) =>
    (limit_mark !== undefined && limitOf(pid) === limit_mark) || sessionOf(pid) === session_id;
}
