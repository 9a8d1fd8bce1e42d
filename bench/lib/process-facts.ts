import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface MemoryFacts {
  readonly rss_kib: number;
  /** Pages that others share count by their part. */
  readonly pss_kib: number;
  /** What it wrote itself, in memory or swapped out: nobody else's coming or going changes it. */
  readonly own_kib: number;
}

export function readMemory(pid: number): MemoryFacts {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
  const read = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1]);
  const own_kib = read("Anonymous") + read("Swap");
  return { rss_kib: read("Rss"), pss_kib: read("Pss"), own_kib };
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** What each descriptor stands for: `socket:[123]`, `/dev/ptmx`. */
export function listDescriptors(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // Closed while we looked.
      return "";
    }
  });
}

export function countThreads(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

/** The living processes that have the word among their arguments; zombies are dead. */
export function findByArgument(word: string): number[] {
  return listOthers().filter((pid) => argumentsOf(pid).includes(word));
}

/** Those that name the directory or something in it. */
export function findByDirectory(path: string): number[] {
  const isUnder = (word: string) => word === path || word.startsWith(`${path}/`);
  return listOthers().filter((pid) => argumentsOf(pid).some(isUnder));
}

function listOthers(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

function argumentsOf(pid: number): readonly string[] {
  try {
    // A zombie has none left.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
