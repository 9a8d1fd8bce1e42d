import type { ChildProcess } from "node:child_process";

/** Signals a child that leads a process group, and everything in that group. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no process left.
  }
}
