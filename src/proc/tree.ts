import type { ProcessIdentity, ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";

/** What makes a process a member of a session's tree. */
export interface TreeMarks {
  readonly session_id: string;
  readonly root: ProcessIdentity;
  /** The soft limit of RLIMIT_MSGQUEUE that the child was started with, see docs/adr/0005-process-trees.md. */
  readonly limit_mark?: number | undefined;
  /** Whose children the limit is looked at: the host's own, or anybody's after a host has died. */
  readonly limit_scope?: "adopted" | "all";
  /** Members of earlier looks, pid to start time; for platforms that know no marks. */
  readonly seen?: ReadonlyMap<number, number>;
}

/**
 * The closure over parent, group, session and marker in one snapshot. The marker in the environment finds what
 * left its parents behind; the inherited limit finds, among the orphans that the host has adopted, those that
 * cleared their environment as well.
 */
export function findTree(snapshot: Snapshot, marks: TreeMarks, hostPid: number): ProcessStat[] {
  // Nobody can descend from a process that started later; that spares most reads.
  const candidates = snapshot.processes.filter(
    (process) =>
      process.start_time >= marks.root.start_time && process.pid !== hostPid && process.pid > 1,
  );
  const members = new Map<number, ProcessStat>();
  const groups = new Set<number>();
  const sessions = new Set<number>();
  const add = (process: ProcessStat) => {
    members.set(process.pid, process);
    // Kernel threads, and processes of other pid namespaces, are in group and session 0.
    if (process.pgid > 0) groups.add(process.pgid);
    if (process.sid > 0) sessions.add(process.sid);
  };
  const isSeed = createSeedTest(snapshot, marks, hostPid);
  for (const process of candidates) if (isSeed(process)) add(process);
  let grown = members.size > 0;
  while (grown) {
    grown = false;
    for (const process of candidates) {
      if (members.has(process.pid)) continue;
      if (!members.has(process.ppid) && !groups.has(process.pgid) && !sessions.has(process.sid))
        continue;
      add(process);
      grown = true;
    }
  }
  return [...members.values()];
}

function createSeedTest(
  snapshot: Snapshot,
  marks: TreeMarks,
  hostPid: number,
): (process: ProcessStat) => boolean {
  const { root, limit_mark } = marks;
  const hasLimit = (process: ProcessStat) =>
    limit_mark !== undefined && snapshot.limitOf(process.pid) === limit_mark;
  // Two hosts may have given the same mark: who is no child of ours and names another session is the other's.
  const isAdopted = (process: ProcessStat) =>
    process.ppid === hostPid ||
    (marks.limit_scope === "all" && snapshot.sessionOf(process.pid) === undefined);
  // After the root's death its number still names its group and session, but once these are empty the number may
  // come to name those of a stranger, so it counts only together with the inherited limit.
  const isOfRoot = (process: ProcessStat) =>
    process.pid !== root.pid && (process.pgid === root.pid || process.sid === root.pid);
  return (process) =>
    (process.pid === root.pid && process.start_time === root.start_time) ||
    marks.seen?.get(process.pid) === process.start_time ||
    snapshot.sessionOf(process.pid) === marks.session_id ||
    ((isAdopted(process) || isOfRoot(process)) && hasLimit(process));
}
