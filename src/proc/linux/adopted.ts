import { findProcess, isDead, listThreads, type ProcessStat, readText } from "#proc/identity.ts";

/**
 * Finds members of a tree that fork and exit faster than the process table can be read. The host is the subreaper of
 * all sessions: a process that loses its parent becomes a child of the host, and the kernel lists the host's children in
 * one read, dead or alive, until the host reaps them. No child is reaped during these calls, because they never wait.
 * Two reads that show the same dead children and no live one therefore prove that nothing is left.
 */
export interface Adopted {
  /** The live members; dead ones when new ones kept appearing, because then one of them lives that was not seen. */
  find(isMarked: (pid: number) => boolean): readonly ProcessStat[];
  /** Kills members as it finds them, until none is left or its time is over. */
  hunt(isMarked: (pid: number) => boolean, kill: (member: ProcessStat) => void): void;
}

/** The longest that either takes: the host does nothing else meanwhile. */
const LOOKS_MS = 10;

export function createAdopted(now: () => number): Adopted {
  return {
    find(isMarked) {
      const until = now() + LOOKS_MS;
      const dead = new Map<number, ProcessStat>();
      for (;;) {
        const known = dead.size;
        const living = look(isMarked, dead);
        if (living.length > 0) return living;
        if (dead.size === known) return [];
        if (now() >= until) return [...dead.values()].slice(-1);
      }
    },
    hunt(isMarked, kill) {
      const until = now() + LOOKS_MS;
      const dead = new Map<number, ProcessStat>();
      for (;;) {
        const known = dead.size;
        const living = look(isMarked, dead);
        if (living.length === 0 && dead.size === known) return;
        for (const member of living) kill(member);
        if (now() >= until) return;
      }
    },
  };
}

/**
 * The live ones among the marked children of the host and all of their descendants. The others are added to `dead`, where
 * they stay: they are listed until the host reaps them.
 */
function look(isMarked: (pid: number) => boolean, dead: Map<number, ProcessStat>): ProcessStat[] {
  const pids = listChildren(process.pid, String(process.pid)).filter(isMarked);
  const living: ProcessStat[] = [];
  for (const pid of pids) {
    const stat = dead.has(pid) ? undefined : findProcess(pid);
    if (stat === undefined) continue;
    if (isDead(stat)) {
      dead.set(pid, stat);
      continue;
    }
    living.push(stat);
    for (const thread of listThreads(pid)) pids.push(...listChildren(pid, thread));
  }
  return living;
}

/** Empty where the kernel does not list them (CONFIG_PROC_CHILDREN). */
function listChildren(pid: number, thread: string): number[] {
  const text = readText(`/proc/${pid}/task/${thread}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number);
}
