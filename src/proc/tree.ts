import { type ProcessIdentity, type ProcessStat, readText } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";

/** What makes a process a member of a session's tree. */
export interface TreeMarks {
  readonly session_id: string;
  readonly root: ProcessIdentity;
  /** The soft limit of RLIMIT_MSGQUEUE that the child was started with, see docs/adr/0005-process-trees.md. */
  readonly limit_mark?: number | undefined;
}

/**
 * The closure over parent, group, session and marker in one snapshot. The marker in the environment finds what
 * left its parents behind; the inherited limit finds, among the orphans that the host has adopted, those that
 * cleared their environment as well.
 */
export function findTree(snapshot: Snapshot, marks: TreeMarks, hostPid: number): ProcessStat[] {
  const entry = `REINS_SESSION_ID=${marks.session_id}`;
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
    groups.add(process.pgid);
    sessions.add(process.sid);
  };
  const isMarked = (process: ProcessStat) =>
    snapshot.hasVariable(process.pid, entry) ||
    (process.ppid === hostPid &&
      marks.limit_mark !== undefined &&
      readLimitMark(process.pid) === marks.limit_mark);

  seedWithRoot(candidates, marks.root, { add, groups, sessions });
  for (const process of candidates)
    if (!members.has(process.pid) && isMarked(process)) add(process);
  let grown = true;
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

interface Seeds {
  readonly add: (process: ProcessStat) => void;
  readonly groups: Set<number>;
  readonly sessions: Set<number>;
}

/** The root's number names its group and session even after its death, unless somebody else got that number. */
function seedWithRoot(
  candidates: readonly ProcessStat[],
  root: ProcessIdentity,
  seeds: Seeds,
): void {
  const holder = candidates.find((process) => process.pid === root.pid);
  if (holder !== undefined && holder.start_time !== root.start_time) return;
  seeds.groups.add(root.pid);
  seeds.sessions.add(root.pid);
  if (holder !== undefined) seeds.add(holder);
}

export function readLimitMark(pid: number): number | undefined {
  const line = /^Max msgqueue size +(\d+)/m.exec(readText(`/proc/${pid}/limits`) ?? "");
  return line === null ? undefined : Number(line[1]);
}
