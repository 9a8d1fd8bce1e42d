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
  hunt(
    isMarked: (pid: number) => boolean,
    kill: (member: ProcessStat) => void,
    now: () => number,
  ): void;
}

const PASSES = 50;
/** The host does nothing else meanwhile. */
const HUNT_MS = 10;

export function createAdopted(hostPid = process.pid): Adopted {
  return {
    find(isMarked) {
      let members: readonly ProcessStat[] = [];
      for (let pass = 0; pass < PASSES; pass += 1) {
        const before = members;
        members = look(hostPid, isMarked);
        const living = members.filter((member) => !isDead(member));
        if (living.length > 0) return living;
        if (members.length === before.length) return [];
      }
      return members;
    },
    hunt(isMarked, kill, now) {
      const until = now() + HUNT_MS;
      let dead = -1;
      for (;;) {
        const members = look(hostPid, isMarked);
        const living = members.filter((member) => !isDead(member));
        if (living.length === 0 && members.length === dead) return;
        dead = members.length - living.length;
        for (const member of living) kill(member);
        if (now() >= until) return;
      }
    },
  };
}

/** The marked children of the host and all of their descendants. The dead stay listed, so their number only grows. */
function look(hostPid: number, isMarked: (pid: number) => boolean): ProcessStat[] {
  const pids = listChildren(hostPid, String(hostPid)).filter(isMarked);
  const members: ProcessStat[] = [];
  for (const pid of pids) {
    const stat = findProcess(pid);
    if (stat === undefined) continue;
    members.push(stat);
    if (!isDead(stat))
      for (const thread of listThreads(pid)) pids.push(...listChildren(pid, thread));
  }
  return members;
}

/** Empty where the kernel does not list them (CONFIG_PROC_CHILDREN). */
function listChildren(pid: number, thread: string): number[] {
  const text = readText(`/proc/${pid}/task/${thread}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number);
}
