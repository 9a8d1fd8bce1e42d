import { readFileSync } from "node:fs";

/** Linux counts in these, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;
/** Behind the name of the program, which may hold anything but ends with the last parenthesis. */
const UTIME = 11;
const STIME = 12;

/** Seconds that all threads of the process have been running, in the kernel's time too. */
export function readCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[UTIME]) + Number(fields[STIME])) / TICKS_PER_SECOND;
}
