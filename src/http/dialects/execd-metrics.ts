import { cpus, totalmem } from "node:os";
import { pause } from "#base/pause.ts";
import type { ExecdContext } from "./execd-context.ts";

/** CPU time is a difference between two looks. */
const SAMPLE_MS = 200;
const MIB = 1024 * 1024;

/** The machine as that API describes it: within the limits that the server itself has. */
export async function describeMetrics({ clock, signal }: Pick<ExecdContext, "clock" | "signal">) {
  const before = readCpu();
  await pause(clock, SAMPLE_MS, signal);
  const after = readCpu();
  const total = readTotalMemory();
  const available = Math.min(total, process.availableMemory());
  return {
    cpu_count: cpus().length,
    cpu_used_pct: percentBetween(before, after),
    mem_total_mib: Math.round(total / MIB),
    mem_used_mib: Math.round((total - available) / MIB),
    timestamp: clock.now(),
  };
}

interface CpuTimes {
  readonly idle: number;
  readonly all: number;
}

function readCpu(): CpuTimes {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, all };
}

function percentBetween(before: CpuTimes, after: CpuTimes): number {
  const all = after.all - before.all;
  if (all <= 0) return 0;
  const busy = (100 * (all - (after.idle - before.idle))) / all;
  return Math.min(100, Math.max(0, Math.round(busy * 10) / 10));
}

/** Without a limit of a cgroup Node answers 0, or a number far beyond the machine's. */
function readTotalMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
