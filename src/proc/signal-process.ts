import { errnoOf } from "#base/errno.ts";
import type { Survivor } from "#contract/session-state.ts";
import { findProcess, isDead, type ProcessStat, readText } from "./identity.ts";

/** A signal to exactly this process: (pid, start time) is compared right before, so a recycled pid is never hit. */
export function sendSignal(target: ProcessStat, signal: NodeJS.Signals): boolean {
  if (target.pid <= 1 || target.pid === process.pid) return false;
  try {
    if (findProcess(target.pid)?.start_time !== target.start_time) return false;
    process.kill(target.pid, signal);
    return true;
  } catch {
    // Gone in between, or another user's: who stays alive is named by `describeSurvivor`.
    return false;
  }
}

export function describeSurvivor(member: ProcessStat): Survivor {
  const uid = Number(
    /^Uid:\s+(\d+)/m.exec(readText(`/proc/${member.pid}/status`) ?? "")?.[1] ?? -1,
  );
  return { pid: member.pid, uid, command: member.name, why: whyAlive(member) };
}

/** A process that forks and exits all the time is known by its last number. */
const ENDING = "it was ending; a process that it started may still run";

function whyAlive(member: ProcessStat): string {
  try {
    process.kill(member.pid, 0);
  } catch (error) {
    return errnoOf(error) === "EPERM" ? "it runs as another user" : ENDING;
  }
  const now = findProcess(member.pid);
  return now === undefined || isDead(now)
    ? ENDING
    : `it is in state ${now.state} and did not end in time`;
}
