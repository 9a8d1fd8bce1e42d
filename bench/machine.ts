import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly node: string;
  readonly date: string;
  /** Of the last minute, before the first measurement: above 0.5 the figures are of a busy machine. */
  readonly load: number;
  readonly memory_gib: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    kernel: `${type()} ${release()}`,
    node: process.version,
    date: new Date().toISOString(),
    load: loadavg()[0] ?? 0,
    memory_gib: Math.round(totalmem() / 2 ** 30),
  };
}

export function sayMachine(machine: Machine): string {
  const { cpu, cores, kernel, node, date, load, memory_gib } = machine;
  return `${cpu}, ${cores} cores, ${memory_gib} GiB; ${kernel}; Node ${node}; ${date}; load ${load.toFixed(2)}`;
}
