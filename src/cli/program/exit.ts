import { asFault, Fault } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";
import { printable } from "./printable.ts";

/** The one place where a fault becomes an exit code. */
export function exitCodeOf(error: unknown): number {
  return faults[asFault(error).code].exit;
}

/** As shells, env and docker have it. */
const NOT_FOUND_EXIT = 127;
const NOT_EXECUTABLE_EXIT = 126;
const NOT_EXECUTABLE: readonly unknown[] = ["EACCES", "ENOEXEC", "ENOTDIR", "ELOOP"];

/** For a command that runs a program: it passes the program's exit code on, also when there is no program to run. */
export function exitCodeOfProgram(error: unknown): number {
  const { code, details } = asFault(error);
  if (code === "spawn_failed" && details.program !== undefined) {
    if (details.errno === "ENOENT") return NOT_FOUND_EXIT;
    if (NOT_EXECUTABLE.includes(details.errno)) return NOT_EXECUTABLE_EXIT;
  }
  return exitCodeOf(error);
}

/** For people, who see the data on stdout and this beside it. */
export function notice(sentence: string): void {
  process.stderr.write(`reins: ${printable(sentence)}\n`);
}

export function sayFault(error: unknown): void {
  const fault = asFault(error);
  notice(fault.message);
  // A bug: what is needed to find it.
  if (fault.code !== "internal" || error instanceof Fault || !(error instanceof Error)) return;
  for (const line of (error.stack ?? "").split("\n")) process.stderr.write(`${printable(line)}\n`);
}

export function hostGone(session_id: string): Fault {
  const sentence = `the host has gone away; reins logs ${session_id} shows what was printed`;
  return new Fault("host_unavailable", sentence);
}
