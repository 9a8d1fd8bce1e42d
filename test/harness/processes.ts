import { readdirSync, readFileSync } from "node:fs";

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

export function isAlive(pid: number): boolean {
  const state = /^\d+ \(.*\) (\S)/s.exec(readProc(pid, "stat"))?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
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
