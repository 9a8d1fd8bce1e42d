import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A process that is still the one that was looked at: pids are used again. */
export interface Target {
  readonly pid: number;
  readonly started: string;
}

/** Has a process at times. */
export interface Mortal {
  target(): Target | undefined;
}

export function findTarget(pid: number): Target | undefined {
  const fields = statOf(pid);
  return fields === undefined ? undefined : { pid, started: fields[19] ?? "" };
}

/** False when it has gone meanwhile. */
export function signalTarget({ pid, started }: Target, signal: NodeJS.Signals): boolean {
  if (findTarget(pid)?.started !== started) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
    return false;
  }
}

/** Changes a soft limit and gives back how to undo it. */
export function limitTarget(
  { pid, started }: Target,
  resource: "nofile" | "fsize",
  value: number,
): () => void {
  const shown = spawnSync("prlimit", [
    `--pid=${pid}`,
    `--${resource}`,
    "--output=SOFT",
    "--noheadings",
  ]);
  const before = shown.stdout?.toString().trim() || "unlimited";
  setLimit(pid, `--${resource}=${value}:`);
  return () => {
    if (findTarget(pid)?.started === started) setLimit(pid, `--${resource}=${before}:`);
  };
}

function setLimit(pid: number, option: string): void {
  spawnSync("prlimit", [`--pid=${pid}`, option]);
}

/** With this as its limit a process can open nothing more. */
export function lowestFreeDescriptor(pid: number): number {
  const open = new Set(listFds(pid).map(Number));
  let free = 0;
  while (open.has(free)) free += 1;
  return free;
}

export function countDescriptors(pid: number): number {
  return listFds(pid).length;
}

function listFds(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    // It has ended.
    return [];
  }
}

/** Living processes with the word in their arguments, with what they are. */
export function findCarriers(word: string): { readonly pid: number; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = read(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim();
      const isAlive = !/^[ZX]$/.test(statOf(Number(name))?.[0] ?? "X");
      return isAlive && command.includes(word) ? [{ pid: Number(name), command }] : [];
    });
}

/** What follows the name in `/proc/PID/stat`: the state is the first. */
function statOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat === "" ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // It ended while we looked.
    return "";
  }
}
