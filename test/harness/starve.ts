import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

/** From now on the process can open nothing more; what is open stays open. */
export function starve(pid: number): Disposable {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let free = 0;
  while (open.has(free)) free += 1;
  const limit = (count: string) => spawnSync("prlimit", [`--pid=${pid}`, `--nofile=${count}:`]);
  const shown = spawnSync("prlimit", [`--pid=${pid}`, "--nofile", "--output=SOFT", "--noheadings"]);
  limit(String(free));
  return { [Symbol.dispose]: () => void limit(String(shown.stdout).trim()) };
}
