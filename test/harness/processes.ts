import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { isDead, parseStat } from "#proc/identity.ts";

/** Pids of live processes (no zombies) whose command line contains the text. Looked up in /proc, from outside. */
export function findProcesses(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        pid !== process.pid &&
        isAlive(pid) &&
        readProc(pid, "cmdline").replaceAll("\0", " ").includes(text),
    );
}

/** Pids of live workers of an agent's session, by their environment: their command lines are all the same. */
export function findWorkers(sessionId: string): number[] {
  return findProcesses("agent --park-after").filter((pid) =>
    readProc(pid, "environ").split("\0").includes(`REINS_SESSION_ID=${sessionId}`),
  );
}

/** A killed process is a zombie while its other threads still end, and holds its files until then. */
export function isAlive(pid: number): boolean {
  const stat = parseStat(readProc(pid, "stat"));
  return stat !== undefined && !isDead(stat);
}

/** Whether a process has a handler for a signal; Node itself has one for INT and TERM from the start. */
export function catches(pid: number, signal: keyof typeof constants.signals): boolean {
  const mask = /^SigCgt:\s+([0-9a-f]+)/m.exec(readProc(pid, "status"))?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory in KiB. */
export function residentMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readProc(pid, "status"))?.[1] ?? 0);
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    // It ended while we looked.
    return "";
  }
}
